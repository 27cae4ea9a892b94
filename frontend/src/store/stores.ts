/** The stores of the map's pages, made in the order in which they rest on one another. */
import type { Surroundings } from '../wire/client';
import { Announcer } from './announcer.svelte';
import { House } from './house.svelte';
import { Live } from './live.svelte';
import { Navigation } from './navigation.svelte';
import { People } from './people.svelte';
import { RouteStore } from './route.svelte';
import { Selection } from './selection.svelte';

export interface Stores {
  readonly announcer: Announcer;
  readonly nav: Navigation;
  readonly live: Live;
  readonly house: House;
  readonly people: People;
  readonly route: RouteStore;
  readonly selection: Selection;
}

/** @param fixedKiosk a kiosk page stands where its kiosk stands. */
export function openStores(around: Surroundings, fixedKiosk: string | null = null): Stores {
  const announcer = new Announcer();
  const nav = new Navigation(fixedKiosk);
  const live = new Live(around);
  const house = new House(live);
  const people = new People(live);
  const route = new RouteStore(live, house, nav, announcer);
  const selection = new Selection(house, nav, route, announcer);
  return { announcer, nav, live, house, people, route, selection };
}

/** Load the building and connect the socket meanwhile; returns the function that ends it all. */
export function startStores({ nav, live, house, route, selection }: Stores): () => void {
  const ends = [nav.start(), live.start(), route.start()];
  void house.load(() => selection.levelId);
  return () => {
    for (const end of ends) end();
  };
}
