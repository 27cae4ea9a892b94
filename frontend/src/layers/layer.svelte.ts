/** What a layer of the map is: a standing view, drawn on the plan and explained in a panel. */
import type { Component } from 'svelte';
import type { House } from '../store/house.svelte';
import type { Live } from '../store/live.svelte';
import type { Navigation } from '../store/navigation.svelte';
import type { Stores } from '../store/stores';
import type { Table } from '../store/table';
import type { Banded } from './bands';

export interface MapLayer {
  readonly id: string;
  readonly title: () => string;
  /** The standing view whose rows it draws, followed while it is shown. */
  readonly view: string;
  /** What it is drawn over: the rooms alone, or the machines too. */
  readonly over: 'rooms' | 'machines';
  /** SVG in metres; y grows downwards. */
  readonly Shapes: Component<ShapesProps>;
  readonly Panel: Component<PanelProps>;
}

export interface BandedLayer {
  readonly id: string;
  readonly title: () => string;
  readonly view: string;
  readonly over: 'rooms';
  /** How its rows fill rooms. */
  readonly banded: Banded;
}

export type LayerSpec = MapLayer | BandedLayer;

export interface ShapesProps {
  layer: ShownLayer;
  house: House;
  levelId: string;
  pxPerM: number;
}

export interface PanelProps {
  layer: ShownLayer;
  house: House;
  /** What else of the page a panel may need. */
  around: Pick<Stores, 'nav' | 'selection' | 'route' | 'live'>;
}

/** A layer that the reader can open and close; one at a time, by the address. */
export class ShownLayer {
  /** Which of its rows are drawn, in the layer's own terms; empty until the reader chooses. */
  choice = $state('');

  constructor(
    readonly spec: LayerSpec,
    private readonly live: Live,
    private readonly nav: Navigation,
  ) {
    live.prepare(spec.view);
  }

  get open(): boolean {
    return this.nav.address.overlay === this.spec.id;
  }

  set open(open: boolean) {
    if (open !== this.open) this.nav.go({ overlay: open ? this.spec.id : null });
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
