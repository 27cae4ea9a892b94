/** The overlays of the map, in the order of their panels. */
import { t } from '../language';
import { AIR, ENERGY, LIGHT, OCCUPANCY, TEMPERATURE } from './bands';
import EvacuationPanel from './EvacuationPanel.svelte';
import EvacuationShapes from './EvacuationShapes.svelte';
import type { LayerSpec } from './layer.svelte';
import PowerPanel from './PowerPanel.svelte';
import PowerShapes from './PowerShapes.svelte';

export const EVACUATION = 'evacuation';

export const LAYERS: readonly LayerSpec[] = [
  {
    id: 'temperature',
    title: () => t('Temperature'),
    view: 'newest_temperature',
    over: 'rooms',
    banded: TEMPERATURE,
  },
  { id: 'light', title: () => t('Light'), view: 'newest_light', over: 'rooms', banded: LIGHT },
  { id: 'occupancy', title: () => t('Occupancy'), view: 'room_occupancy', over: 'rooms', banded: OCCUPANCY },
  { id: 'energy', title: () => t('Energy'), view: 'room_power', over: 'rooms', banded: ENERGY },
  { id: 'air', title: () => t('Air'), view: 'room_air', over: 'rooms', banded: AIR },
  {
    id: EVACUATION,
    title: () => t('Ways out'),
    view: 'cut_off_room',
    over: 'machines',
    Shapes: EvacuationShapes,
    Panel: EvacuationPanel,
  },
  {
    id: 'power',
    title: () => t('Energy per query'),
    view: 'mote_power',
    over: 'machines',
    Shapes: PowerShapes,
    Panel: PowerPanel,
  },
];
