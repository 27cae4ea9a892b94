/** The question "nearest free machine with …", its answer, and what changed of it. */
import { Problem } from '../api/http';
import type { Kiosk } from '../api/schema';
import type { Row } from '../wire/protocol';
import type { Announcer } from './announcer.svelte';
import type { Point } from './geometry';
import type { House } from './house.svelte';
import type { Live } from './live.svelte';
import type { Navigation } from './navigation.svelte';
import { changed, outcome, type Ask, type Outcome } from './outcome';
import { directions, path, steps, type Instruction, type Path } from './path';
import { RouteSession } from './session';
import { rowWith } from './table';
import { machineState } from './words';
import { titleOf } from './world';

export interface Origin {
  readonly node: number;
  readonly name: string;
  readonly levelId: string;
  readonly at: Point;
}

export class RouteStore {
  /** The last change of the answer, shown until the question changes. */
  news = $state('');
  problem = $state.raw<Problem | null>(null);
  /** The route session that answers are looked up by. */
  session = $state.raw<string | null>(null);
  private askedAtMs = $state(0);
  private second = $state(0);
  private shown: { mid: string; nodes: string } | null = null;
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
  readonly ask: Ask | null = $derived.by(() => {
    const { software, stepFree } = this.nav.address;
    return this.origin && software ? { node: this.origin.node, software, stepFree } : null;
  });
  /** The same text for equal questions, so that only another one is put. */
  private readonly question: string = $derived(JSON.stringify(this.ask));
  readonly outcome: Outcome = $derived.by(() => {
    const waitedS = (Math.max(this.second, this.askedAtMs) - this.askedAtMs) / 1000;
    return outcome(this.live.tables.nearest_machine, this.session, this.ask, waitedS, this.house.world);
  });
  /** The row that answers this browser's question. */
  readonly nearest: Row | null = $derived.by(() =>
    rowWith(this.live.tables.nearest_machine, 'session', this.session),
  );
  readonly path: Path | null = $derived.by(() => {
    if (this.outcome.kind !== 'found' || this.session === null) return null;
    const route = steps(this.live.tables.route_step, this.session);
    return route.length < 2 ? null : path(route, this.house.roomsByLevel);
  });
  readonly directions: Instruction[] = $derived.by(() => {
    if (!this.path || this.outcome.kind !== 'found') return [];
    const { machine } = this.outcome;
    const { world, levels, roomsByLevel } = this.house;
    const room = world.rooms.get(machine.rid);
    const name = room ? `${machine.host} in ${titleOf(room)}` : machine.host;
    const from = this.origin?.name ?? '';
    return directions(this.path, levels, roomsByLevel, from, { name, rid: machine.rid });
  });

  /** Keep the service in line with the question in the address; returns the function that ends it. */
  start(): () => void {
    const ticking = setInterval(() => {
      this.second = Date.now();
    }, 1000);
    const end = $effect.root(() => {
      $effect(() => {
        this.put(JSON.parse(this.question) as Ask | null);
      });
    });
    return () => {
      clearInterval(ticking);
      end();
    };
  }

  private put(ask: Ask | null): void {
    if (!this.routes.differs(ask)) return;
    this.askedAtMs = Date.now();
    this.shown = null;
    this.news = '';
    this.routes.put(ask).then(
      (session) => {
        this.problem = null;
        this.session = session;
        this.askedAtMs = Date.now();
        if (session === null) this.live.forgetOwn();
        else this.live.followOwn();
      },
      (error: unknown) => {
        if (!(error instanceof Problem)) throw error;
        this.problem = error;
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
      this.announcer.say(`Way found to ${machine.host}, ${Math.round(costMm / 1000)} metres.`);
      return;
    }
    const news = changed(before, { machine, nodes }, this.house.world, machineState);
    if (news !== null) {
      this.news = news;
      this.announcer.say(news);
    }
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
