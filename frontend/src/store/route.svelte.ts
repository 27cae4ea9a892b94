/** A visitor's question, the engine's answer to it, and why the answer changed. */
import { Problem } from '../api/http';
import type { Kiosk } from '../api/schema';
import { t } from '../language';
import type { Row } from '../wire/protocol';
import type { Announcer } from './announcer.svelte';
import type { Point } from './geometry';
import { destinationOf, type Known } from './goal';
import type { House } from './house.svelte';
import type { Live } from './live.svelte';
import type { Navigation } from './navigation.svelte';
import { newsOf } from './news';
import { answering, outcome, type Ask, type Outcome } from './outcome';
import { directions, metres, path, stepsOf, type Instruction, type Path } from './path';
import { RouteSession } from './session';
import { titleOf } from './world';

export interface Origin {
  readonly node: number;
  readonly name: string;
  readonly levelId: string;
  readonly at: Point;
}

/** The columns of `reachable_destination`, which `nearest_destination` has too. */
const REACHED = ['session', 'origin', 'goal', 'step_free', 'target', 'rid', 'mid', 'cost_mm'];

export class RouteStore {
  problem = $state.raw<Problem | null>(null);
  /** The route session that answers are looked up by. */
  session = $state.raw<string | null>(null);
  private dismissed = $state('');
  private announced = '';
  private readonly routes = new RouteSession();

  constructor(
    private readonly live: Live,
    private readonly house: House,
    private readonly nav: Navigation,
    private readonly announcer: Announcer,
  ) {}

  readonly kiosk: Kiosk | null = $derived.by(() => {
    const id = this.nav.fixedKiosk ?? this.nav.address.kiosk;
    return this.house.building?.kiosks.find((kiosk) => kiosk.id === id) ?? null;
  });
  readonly origin: Origin | null = $derived.by(() => this.findOrigin());
  readonly known: Known = $derived.by(() => ({
    destinations: this.house.building?.destinations ?? [],
    seen: this.house.world,
  }));
  readonly ask: Ask | null = $derived.by(() => {
    const { goal, stepFree } = this.nav.address;
    if (!this.origin || !goal) return null;
    const always = destinationOf(goal, this.known)?.step_free ?? false;
    return { node: this.origin.node, goal, stepFree: stepFree || always };
  });
  /** The same text for equal questions, so that only another one is put. */
  private readonly question: string = $derived(JSON.stringify(this.ask));
  readonly outcome: Outcome = $derived.by(() => {
    const { nearest_destination, no_route } = this.live.tables;
    return outcome(nearest_destination, no_route, this.session, this.ask, this.known);
  });
  /** The row of `reachable_destination` that answers this browser's question. */
  readonly nearest: Row | null = $derived.by(() => {
    if (this.outcome.kind !== 'found' || this.ask === null) return null;
    const [row] = answering(this.live.tables.nearest_destination, this.session, this.ask);
    return row ? REACHED.map((name) => row[name] ?? null) : null;
  });
  readonly path: Path | null = $derived.by(() => {
    if (this.outcome.kind !== 'found' || this.ask === null) return null;
    const { target, costMm } = this.outcome;
    const rows = answering(this.live.tables.route_step, this.session, this.ask);
    const route = stepsOf(rows.filter((row) => row.target === target.id));
    // The two views come one after the other: a walk of another length is of another moment.
    return route.length < 2 || route.at(-1)?.costMm !== costMm ? null : path(route, this.house.roomsByLevel);
  });
  readonly directions: Instruction[] = $derived.by(() => {
    if (!this.path || this.outcome.kind !== 'found') return [];
    const { target } = this.outcome;
    const { levels, roomsByLevel } = this.house;
    const name =
      target.room === '' ? target.name : t('{name} in {room}', { name: target.name, room: target.room });
    return directions(this.path, levels, roomsByLevel, this.origin?.name ?? '', { name, rid: target.rid });
  });
  /** Why the way is another one than before, until it is dismissed or the question changes. */
  readonly news: string = $derived.by(() => {
    if (this.ask === null) return '';
    const rows = answering(this.live.tables.route_news, this.session, this.ask);
    const news = newsOf(rows, this.house.world);
    return news === this.dismissed ? '' : news;
  });

  /** Keep the service in line with the question in the address; returns the function that ends it. */
  start(): () => void {
    return $effect.root(() => {
      $effect(() => {
        this.put(JSON.parse(this.question) as Ask | null);
      });
    });
  }

  /** Take the news off the page. */
  dismiss(): void {
    this.dismissed = this.news;
  }

  private put(ask: Ask | null): void {
    if (!this.routes.differs(ask)) return;
    this.announced = this.dismissed = '';
    this.routes.put(ask).then(
      (session) => {
        this.problem = null;
        this.session = session;
        if (session === null) this.live.forgetOwn();
        else this.live.followOwn();
      },
      (error: unknown) => {
        if (!(error instanceof Problem)) throw error;
        this.problem = error;
      },
    );
  }

  /** Say once what is new; called when the answer may have changed. */
  announce(): void {
    if (this.outcome.kind !== 'found') return;
    const { target, costMm } = this.outcome;
    const first = this.announced === '' && this.news === '';
    const said = first
      ? t('Way found to {name}, {length}.', { name: target.name, length: metres(costMm) })
      : this.news;
    if (said === '' || said === this.announced) return;
    this.announced = said;
    this.announcer.say(said);
  }

  private findOrigin(): Origin | null {
    const { kiosk } = this;
    const { from } = this.nav.address;
    if (from !== null && this.nav.fixedKiosk === null) {
      const room = this.house.world.rooms.get(from);
      if (room && room.node !== null) {
        return { node: room.node, name: titleOf(room), levelId: room.levelId, at: room.label };
      }
    }
    if (!kiosk) return null;
    return { node: kiosk.node, name: kiosk.name, levelId: kiosk.level_id, at: [kiosk.x_m, kiosk.y_m] };
  }
}
