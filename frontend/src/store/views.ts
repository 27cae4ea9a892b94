/** The standing views the map follows; their names and columns are the service's contract. */
export const SHARED_VIEWS = [
  'open_room',
  'closed_room',
  'free_machine',
  'machine_in_use',
  'machine_vitals',
  'room_climate',
  'room_light',
  'door_state',
  'visitor_position',
  'visitors_on_level',
  'active_region',
  'region_size',
  'largest_region',
  'silent_source',
  'active_alarm',
] as const;

/** Views the service narrows to this browser's routes. */
export const OWN_VIEWS = ['nearest_machine', 'route_step'] as const;

/** Views behind layers of the map, followed while the layer is shown. */
export const LAYER_VIEWS = ['mote_power'] as const;

export type LayerName = (typeof LAYER_VIEWS)[number];
export type ViewName = (typeof SHARED_VIEWS)[number] | (typeof OWN_VIEWS)[number] | LayerName;
