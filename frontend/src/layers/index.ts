/** The layers of the map, in the order of their panels. */
import type { MapLayer } from './layer.svelte';
import PowerPanel from './PowerPanel.svelte';
import PowerShapes from './PowerShapes.svelte';
import TemperaturePanel from './TemperaturePanel.svelte';
import TemperatureShapes from './TemperatureShapes.svelte';

export const LAYERS: readonly MapLayer[] = [
  {
    id: 'power',
    title: 'Energy per query',
    view: 'mote_power',
    over: 'machines',
    Shapes: PowerShapes,
    Panel: PowerPanel,
  },
  {
    id: 'temperature',
    title: 'Room temperature',
    view: 'newest_temperature',
    over: 'rooms',
    Shapes: TemperatureShapes,
    Panel: TemperaturePanel,
  },
];
