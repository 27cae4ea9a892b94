/** The layers of the map, in the order of their panels. */
import type { MapLayer } from './layer.svelte';
import PowerPanel from './PowerPanel.svelte';
import PowerShapes from './PowerShapes.svelte';

export const LAYERS: readonly MapLayer[] = [
  {
    id: 'power',
    title: 'Energy per query',
    view: 'mote_power',
    over: 'machines',
    Shapes: PowerShapes,
    Panel: PowerPanel,
  },
];
