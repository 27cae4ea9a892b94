/** The page's one store: building, plans, live views, the question asked, what is selected. */
import { http, Problem } from '../api/http';
import type { Building, Kiosk, Level, Plan } from '../api/schema';
import type { Point } from './geometry';
import type { Surroundings } from '../wire/client';
import type { Connection } from '../wire/connection';
import type { Row } from '../wire/protocol';
import { readAddress, writeAddress, type Address } from './address';
import { Live } from './live.svelte';
import { changed, outcome, type Ask, type Outcome } from './outcome';
import { directions, path, steps, type Instruction, type Path } from './path';
import { RouteSession } from './session';
import { rowWith } from './table';
import { machineState } from './words';
import {
  crowds,
  titleOf,
  visitors,
  world,
  type Door,
  type Machine,
  type Room,
  type Visitor,
  type World,
} from './world';

function byLevel(rooms: Iterable<Room>): Map<string, Room[]> {
  const found = new Map<string, Room[]>();
  for (const room of rooms) {
    const list = found.get(room.levelId);
    if (list) list.push(room);
    else found.set(room.levelId, [room]);
  }
  return found;
}

/** Beyond this lag people are not shown, s. */
const PEOPLE_LAG_S = 5;

function fresh(connection: Connection): boolean {
  return connection.kind === 'live' || (connection.kind === 'delayed' && connection.lagS <= PEOPLE_LAG_S);
}

const REMEMBER_STEP_FREE = 'smartcis.step_free';

export interface Origin {
  readonly node: number;
  readonly name: string;
  readonly levelId: string;
  readonly at: Point;
}

export type Selected =
  | { readonly kind: 'machine'; readonly machine: Machine }
  | { readonly kind: 'room'; readonly room: Room }
  | { readonly kind: 'door'; readonly door: Door };

export class App {
  readonly live: Live;
  building = $state.raw<Building | null>(null);
  plans = $state.raw<readonly Plan[]>([]);
  problem = $state.raw<Problem | null>(null);
  address = $state.raw<Address>(readAddress(''));
  /** What the polite live region says. */
  said = $state('');
  /** The last change of the answer, shown until the question changes. */
  news = $state('');
  paused = $state(false);
  /** The maintained view whose power use the map shows, empty for none. */
  powerOf = $state('');
  routeProblem = $state.raw<Problem | null>(null);
  /** The route session that answers are looked up by. */
  session = $state.raw<string | null>(null);
  private askedAtMs = $state(0);
  private tick = $state(0);
  private shown: { mid: string; nodes: string } | null = null;
  private readonly routes = new RouteSession();

  constructor(
    around: Surroundings,
    readonly staff: boolean,
    /** A kiosk page stands where its kiosk stands. */
    readonly fixedKiosk: string | null = null,
  ) {
    this.live = new Live(around);
  }

  readonly world: World = $derived.by(() => world(this.plans, this.live.tables));
  /** Nobody while the answers are old: who hides must not stay on a map that hears nothing. */
  readonly visitors: Visitor[] = $derived.by(() =>
    fresh(this.live.connection) ? visitors(this.live.tables.visitor_position) : [],
  );
  readonly crowds: ReadonlyMap<string, number> = $derived.by(() =>
    crowds(this.live.tables.visitors_on_level),
  );
  readonly levels: readonly Level[] = $derived(
    [...(this.building?.levels ?? [])].sort((a, b) => b.ordinal - a.ordinal),
  );
  readonly levelId: string = $derived.by(() =>
    this.levels.some((level) => level.id === this.address.level)
      ? this.address.level!
      : (this.selectedLevelId ?? this.origin?.levelId ?? this.building?.default_level ?? ''),
  );
  private readonly selectedLevelId: string | null = $derived.by(() => {
    switch (this.selected?.kind) {
      case 'machine':
        return this.selected.machine.levelId;
      case 'room':
        return this.selected.room.levelId;
      case 'door':
        return this.selected.door.levelId;
      default:
        return null;
    }
  });
  readonly roomsByLevel: ReadonlyMap<string, readonly Room[]> = $derived.by(() =>
    byLevel(this.world.rooms.values()),
  );
  readonly kiosk: Kiosk | null = $derived.by(() => {
    const id = this.fixedKiosk ?? this.address.kiosk;
    return this.building?.kiosks.find((kiosk) => kiosk.id === id) ?? null;
  });
  readonly origin: Origin | null = $derived.by(() => this.findOrigin());
  readonly ask: Ask | null = $derived.by(() => {
    const { software, stepFree } = this.address;
    return this.origin && software ? { node: this.origin.node, software, stepFree } : null;
  });
  readonly outcome: Outcome = $derived.by(() => {
    void this.tick;
    const waitedS = (Date.now() - this.askedAtMs) / 1000;
    const { nearest_machine: nearest } = this.live.tables;
    return outcome(nearest, this.session, this.ask, waitedS, this.world);
  });
  /** The row that answers this browser's question. */
  readonly nearest: Row | null = $derived.by(() =>
    rowWith(this.live.tables.nearest_machine, 'session', this.session),
  );
  readonly path: Path | null = $derived.by(() => {
    if (this.outcome.kind !== 'found' || this.session === null) return null;
    const route = steps(this.live.tables.route_step, this.session);
    return route.length < 2 ? null : path(route, this.roomsByLevel);
  });
  readonly directions: Instruction[] = $derived.by(() => {
    if (!this.path || this.outcome.kind !== 'found') return [];
    const { machine } = this.outcome;
    const room = this.world.rooms.get(machine.rid);
    const name = room ? `${machine.host} in ${titleOf(room)}` : machine.host;
    const from = this.origin?.name ?? '';
    return directions(this.path, this.levels, this.roomsByLevel, from, { name, rid: machine.rid });
  });
  readonly selected: Selected | null = $derived.by(() => this.findSelected());

  /** Load the building, then the floor in view, then the others; connect the socket meanwhile. */
  start(): () => void {
    this.address = readAddress(location.search);
    if (!location.search.includes('step_free') && this.fixedKiosk === null) {
      const stepFree = localStorage.getItem(REMEMBER_STEP_FREE) === '1';
      this.address = { ...this.address, stepFree };
    }
    const back = (): void => {
      this.address = readAddress(location.search);
      this.sync();
    };
    window.addEventListener('popstate', back);
    const stop = this.live.start();
    const ticking = setInterval(() => (this.tick += 1), 1000);
    void this.load();
    return () => {
      window.removeEventListener('popstate', back);
      clearInterval(ticking);
      stop();
    };
  }

  private async load(): Promise<void> {
    try {
      const building = await http.get<Building>('building/');
      this.building = building;
      const first = this.levelId;
      this.plans = [await http.get<Plan>(`levels/${first}/plan/`)];
      const others = building.levels.filter((level) => level.id !== first);
      const plans = await Promise.all(others.map((level) => http.get<Plan>(`levels/${level.id}/plan/`)));
      this.plans = [...this.plans, ...plans];
      this.problem = null;
      this.sync();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problem = error;
      setTimeout(() => void this.load(), 3000);
    }
  }

  /** Change the address; `push` makes a step the back button can undo. */
  go(change: Partial<Address>, push = true): void {
    // Opening and closing a panel must not change the floor one looks at.
    const pinned = change.select !== undefined && this.levelId !== '' ? { level: this.levelId } : {};
    const next = { ...this.address, ...pinned, ...change };
    const text = location.pathname + writeAddress(next);
    if (text === location.pathname + writeAddress(this.address)) return;
    this.address = next;
    if (change.stepFree !== undefined && this.fixedKiosk === null) {
      localStorage.setItem(REMEMBER_STEP_FREE, change.stepFree ? '1' : '0');
    }
    if (push) history.pushState(null, '', text);
    else history.replaceState(null, '', text);
    this.sync();
  }

  /** One floor up (+1) or down (-1). */
  climb(by: 1 | -1): void {
    const at = this.levels.findIndex((level) => level.id === this.levelId);
    const next = this.levels[at - by];
    if (next) {
      this.go({ level: next.id });
      this.say(`Floor ${next.name}`);
    }
  }

  say(text: string): void {
    this.said = text;
  }

  /** Bring the service in line with the question in the address. */
  private sync(): void {
    const { ask } = this;
    if (!this.routes.differs(ask)) return;
    this.askedAtMs = Date.now();
    this.shown = null;
    this.news = '';
    this.routes.put(ask).then(
      (session) => {
        this.routeProblem = null;
        this.session = session;
        this.askedAtMs = Date.now();
        if (session === null) this.live.forgetOwn();
        else this.live.followOwn();
      },
      (error: unknown) => {
        if (!(error instanceof Problem)) throw error;
        this.routeProblem = error;
      },
    );
  }

  /** Compare the answer with the one shown before; called when it may have changed. */
  announce(): void {
    if (this.outcome.kind !== 'found' || this.session === null) return;
    const { machine, costMm } = this.outcome;
    const nodes = steps(this.live.tables.route_step, this.session)
      .map((s) => s.node)
      .join();
    const before = this.shown;
    if (nodes === '') return;
    this.shown = { mid: machine.mid, nodes };
    if (before === null) {
      this.say(`Way found to ${machine.host}, ${Math.round(costMm / 1000)} metres.`);
      return;
    }
    const news = changed(before, { machine, nodes }, this.world, machineState);
    if (news !== null) {
      this.news = news;
      this.say(news);
    }
  }

  private findOrigin(): Origin | null {
    const { kiosk } = this;
    if (this.address.from !== null && this.fixedKiosk === null) {
      const room = this.world.rooms.get(this.address.from);
      if (room && room.node !== null) {
        return { node: room.node, name: titleOf(room), levelId: room.levelId, at: room.label };
      }
    }
    if (!kiosk) return null;
    return { node: kiosk.node, name: kiosk.name, levelId: kiosk.level_id, at: [kiosk.x_m, kiosk.y_m] };
  }

  private findSelected(): Selected | null {
    const [kind, ...rest] = (this.address.select ?? '').split(':');
    const id = rest.join(':');
    if (kind === 'machine') {
      const machine = this.world.machines.get(id);
      return machine ? { kind, machine } : null;
    }
    if (kind === 'room') {
      const room = this.world.rooms.get(id);
      return room ? { kind, room } : null;
    }
    if (kind === 'door') {
      const door = this.world.doors.get(id);
      return door ? { kind, door } : null;
    }
    return null;
  }
}
