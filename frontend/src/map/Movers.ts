/** Visitors on one canvas: hundreds of dots move without a DOM node each. */
import L from 'leaflet';
import type { Point } from '../api/types';
import type { Visitor } from '../store/world';

/** A tag is heard about once a second; a dot takes this long to its new place, ms. */
const GLIDE_MS = 900;
const RADIUS_PX = 4.5;

interface Mover {
  from: Point;
  to: Point;
  startMs: number;
  levelId: string;
}

export class Movers extends L.Layer {
  private canvas: HTMLCanvasElement | null = null;
  private readonly movers = new Map<string, Mover>();
  private levelId = '';
  private frame = 0;
  private still = false;
  private held: readonly Visitor[] | null = null;

  override onAdd(map: L.Map): this {
    const canvas = L.DomUtil.create('canvas', 'movers');
    canvas.setAttribute('aria-hidden', 'true');
    this.canvas = canvas;
    // A pane of its own lies above the plan; Leaflet puts canvases of one pane below its SVG.
    map.createPane('movers').append(canvas);
    map.on('move zoomend viewreset resize', this.place, this);
    map.on('zoomstart', this.hide, this);
    this.place();
    return this;
  }

  override onRemove(map: L.Map): this {
    cancelAnimationFrame(this.frame);
    map.off('move zoomend viewreset resize', this.place, this);
    map.off('zoomstart', this.hide, this);
    this.canvas?.remove();
    this.canvas = null;
    return this;
  }

  /** Show these visitors; `still` jumps instead of gliding. */
  update(visitors: readonly Visitor[], levelId: string, paused: boolean, still: boolean): void {
    this.levelId = levelId;
    this.still = still;
    if (paused) {
      this.held = visitors;
      this.draw();
      return;
    }
    this.held = null;
    const now = performance.now();
    const seen = new Set<string>();
    for (const { tag, at, levelId: level } of visitors) {
      seen.add(tag);
      const mover = this.movers.get(tag);
      if (!mover || mover.levelId !== level) {
        this.movers.set(tag, { from: at, to: at, startMs: now - GLIDE_MS, levelId: level });
      } else if (mover.to[0] !== at[0] || mover.to[1] !== at[1]) {
        mover.from = this.where(mover, now);
        mover.to = at;
        mover.startMs = now;
      }
    }
    for (const tag of this.movers.keys()) if (!seen.has(tag)) this.movers.delete(tag);
    this.draw();
  }

  private where(mover: Mover, now: number): Point {
    const t = this.still ? 1 : Math.min(1, (now - mover.startMs) / GLIDE_MS);
    return [
      mover.from[0] + (mover.to[0] - mover.from[0]) * t,
      mover.from[1] + (mover.to[1] - mover.from[1]) * t,
    ];
  }

  private hide(): void {
    this.canvas?.classList.add('hidden');
  }

  private place(): void {
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
  }

  private draw(): void {
    cancelAnimationFrame(this.frame);
    const context = this.canvas?.getContext('2d');
    if (!this.canvas || !context) return;
    const now = performance.now();
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const style = getComputedStyle(this.canvas);
    context.fillStyle = style.color;
    context.strokeStyle = style.getPropertyValue('--visitor-rim');
    context.lineWidth = 1.5;
    let moving = false;
    for (const mover of this.movers.values()) {
      if (mover.levelId !== this.levelId) continue;
      const [x, y] = this.where(mover, now);
      const p = this._map.latLngToContainerPoint([y, x]);
      context.beginPath();
      context.arc(p.x, p.y, RADIUS_PX, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
      if (!this.still && now - mover.startMs < GLIDE_MS) moving = true;
    }
    if (moving && this.held === null) this.frame = requestAnimationFrame(() => { this.draw(); });
  }
}
