/**
 * Visitors on one canvas: hundreds of dots move without a DOM node each.
 *
 * Who lets only the room be known does not move about: the room gets one dashed ring, with a
 * number where several are in it.
 */
import L from 'leaflet';
import type { Point } from '../store/geometry';
import type { Visitor } from '../store/world';
import { turned, UNTURNED, type Turn } from './turn';

/** A tag is received about once a second; a dot takes this long to its new point, ms. */
const GLIDE_MS = 900;
const RADIUS_PX = 4.5;
const SIMULATED_PX = 1.6;
const RING_PX = 11;
const DASH_PX = [4, 3];

interface Mover {
  from: Point;
  to: Point;
  startMs: number;
  levelId: string;
  simulated: boolean;
}

/** One visitor with one consent: who now shows less is another. */
const keyOf = ({ name, exact }: Visitor): string => `${name} ${String(exact)}`;

/** A room with visitors of whom no more is known. */
export interface Gathering {
  readonly at: Point;
  readonly count: number;
  readonly simulated: boolean;
}

/** Give the rooms of a floor with visitors whose point is not shown, one for each. */
export function gatherings(visitors: readonly Visitor[], levelId: string): Gathering[] {
  const rooms = new Map<string, Gathering>();
  for (const { rid, at, exact, simulated, levelId: level } of visitors) {
    if (exact || level !== levelId) continue;
    const { count, simulated: all } = rooms.get(rid) ?? { count: 0, simulated: true };
    rooms.set(rid, { at, count: count + 1, simulated: all && simulated });
  }
  return [...rooms.values()];
}

export class Movers extends L.Layer {
  /** How the plan below is turned. */
  turn: Turn = UNTURNED;
  private canvas: HTMLCanvasElement | null = null;
  private readonly movers = new Map<string, Mover>();
  private rooms: readonly Gathering[] = [];
  private levelId = '';
  private frame = 0;
  private still = false;
  private held = false;
  /** What is drawn; while the map is paused it only becomes less. */
  private shown: readonly Visitor[] = [];

  override onAdd(map: L.Map): this {
    const canvas = L.DomUtil.create('canvas', 'movers');
    canvas.setAttribute('aria-hidden', 'true');
    this.canvas = canvas;
    // A pane of its own lies above the plan; Leaflet puts canvases of one pane below its SVG.
    map.createPane('movers').append(canvas);
    map.on('move zoomend viewreset resize', this.place);
    map.on('zoomstart', this.hide);
    this.place();
    return this;
  }

  override onRemove(map: L.Map): this {
    cancelAnimationFrame(this.frame);
    map.off('move zoomend viewreset resize', this.place);
    map.off('zoomstart', this.hide);
    this.canvas?.remove();
    this.canvas = null;
    return this;
  }

  /** Show these visitors; `still` jumps instead of gliding. */
  update(visitors: readonly Visitor[], levelId: string, paused: boolean, still: boolean): void {
    this.levelId = levelId;
    this.still = still;
    this.held = paused;
    if (paused) {
      // Who hides is gone from a map that stands still too.
      const there = new Set(visitors.map(keyOf));
      this.shown = this.shown.filter((visitor) => there.has(keyOf(visitor)));
      const places = new Set(this.shown.filter(({ exact }) => exact).map(({ name }) => name));
      for (const name of this.movers.keys()) if (!places.has(name)) this.movers.delete(name);
      this.rooms = gatherings(this.shown, levelId);
      this.draw();
      return;
    }
    this.shown = visitors;
    const now = performance.now();
    const seen = new Set<string>();
    this.rooms = gatherings(visitors, levelId);
    for (const { name, at, exact, simulated, levelId: level } of visitors) {
      if (!exact) continue;
      seen.add(name);
      const mover = this.movers.get(name);
      if (mover?.levelId !== level) {
        this.movers.set(name, { from: at, to: at, startMs: now - GLIDE_MS, levelId: level, simulated });
      } else if (mover.to[0] !== at[0] || mover.to[1] !== at[1]) {
        mover.from = this.where(mover, now);
        mover.to = at;
        mover.startMs = now;
      }
    }
    for (const name of this.movers.keys()) if (!seen.has(name)) this.movers.delete(name);
    this.draw();
  }

  private where(mover: Mover, now: number): Point {
    const t = this.still ? 1 : Math.min(1, (now - mover.startMs) / GLIDE_MS);
    return [
      mover.from[0] + (mover.to[0] - mover.from[0]) * t,
      mover.from[1] + (mover.to[1] - mover.from[1]) * t,
    ];
  }

  private readonly hide = (): void => {
    this.canvas?.classList.add('hidden');
  };

  private readonly place = (): void => {
    const map = this._map;
    if (!this.canvas) return;
    const size = map.getSize();
    const ratio = window.devicePixelRatio || 1;
    if (this.canvas.width !== size.x * ratio || this.canvas.height !== size.y * ratio) {
      this.canvas.width = size.x * ratio;
      this.canvas.height = size.y * ratio;
      this.canvas.style.width = `${size.x}px`;
      this.canvas.style.height = `${size.y}px`;
    }
    L.DomUtil.setPosition(this.canvas, map.containerPointToLayerPoint([0, 0]));
    this.canvas.classList.remove('hidden');
    this.draw();
  };

  private pixel(at: Point): L.Point {
    const [x, y] = turned(at, this.turn);
    return this._map.latLngToContainerPoint([y, x]);
  }

  private draw(): void {
    cancelAnimationFrame(this.frame);
    // Pixels cannot be asked who is drawn.
    if (this.canvas) this.canvas.dataset.names = this.shown.map(({ name }) => name).join(' ');
    const context = this.canvas?.getContext('2d');
    if (!this.canvas || !context) return;
    const now = performance.now();
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const style = getComputedStyle(this.canvas);
    const ink = { fill: style.color, rim: style.getPropertyValue('--visitor-rim') };
    this.drawRooms(context, ink);
    context.strokeStyle = ink.rim;
    context.lineWidth = 1.5;
    let moving = false;
    for (const mover of this.movers.values()) {
      if (mover.levelId !== this.levelId) continue;
      const p = this.pixel(this.where(mover, now));
      context.fillStyle = ink.fill;
      circle(context, p, RADIUS_PX);
      context.fill();
      context.stroke();
      if (mover.simulated) core(context, p, ink);
      if (!this.still && now - mover.startMs < GLIDE_MS) moving = true;
    }
    if (moving && !this.held)
      this.frame = requestAnimationFrame(() => {
        this.draw();
      });
  }

  private drawRooms(context: CanvasRenderingContext2D, ink: Ink): void {
    context.lineWidth = 2;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.font = '600 11px system-ui, sans-serif';
    for (const { at, count, simulated } of this.rooms) {
      const p = this.pixel(at);
      circle(context, p, RING_PX);
      context.globalAlpha = 0.85;
      context.fillStyle = ink.rim;
      context.fill();
      context.globalAlpha = 1;
      context.strokeStyle = ink.fill;
      context.setLineDash(DASH_PX);
      context.stroke();
      context.setLineDash([]);
      context.fillStyle = ink.fill;
      if (count > 1) context.fillText(String(count), p.x, p.y + 0.5);
      else {
        circle(context, p, RADIUS_PX - 1);
        context.fill();
        if (simulated) core(context, p, ink);
      }
    }
  }
}

interface Ink {
  readonly fill: string;
  readonly rim: string;
}

function circle(context: CanvasRenderingContext2D, at: L.Point, radiusPx: number): void {
  context.beginPath();
  context.arc(at.x, at.y, radiusPx, 0, 2 * Math.PI);
}

/** The light middle that says: simulated. */
function core(context: CanvasRenderingContext2D, at: L.Point, ink: Ink): void {
  context.fillStyle = ink.rim;
  circle(context, at, SIMULATED_PX);
  context.fill();
}
