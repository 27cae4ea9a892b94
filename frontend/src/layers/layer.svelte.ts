/** What a layer of the map is: a standing view, drawn on the plan and explained in a panel. */
import type { Component } from 'svelte';
import type { House } from '../store/house.svelte';
import type { Live } from '../store/live.svelte';
import type { Table } from '../store/table';

export interface MapLayer {
  readonly id: string;
  readonly title: string;
  /** The standing view whose rows it draws, followed while it is shown. */
  readonly view: string;
  /** What it is drawn over: the rooms alone, or the machines too. */
  readonly over: 'rooms' | 'machines';
  /** SVG in metres; y grows downwards. */
  readonly Shapes: Component<ShapesProps>;
  readonly Panel: Component<PanelProps>;
}

export interface ShapesProps {
  layer: ShownLayer;
  house: House;
  levelId: string;
  pxPerM: number;
}

export interface PanelProps {
  layer: ShownLayer;
  house: House;
}

/** A layer that the reader can open and close. */
export class ShownLayer {
  open = $state(false);
  /** Which of its rows are drawn, in the layer's own terms; empty until the reader chooses. */
  choice = $state('');

  constructor(
    readonly spec: MapLayer,
    private readonly live: Live,
  ) {
    live.prepare(spec.view);
  }

  get table(): Table {
    return this.live.table(this.spec.view);
  }

  /** Follow the view; returns the function that ends it. */
  follow(): () => void {
    const end = this.live.followMore(this.spec.view);
    return () => {
      end();
      this.choice = '';
    };
  }
}
