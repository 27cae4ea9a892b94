/** The standing views the map follows; their names and columns are the service's contract. */
export const SHARED_VIEWS = [
  'machine_state',
  'room_state',
  'locked_room',
  'room_region',
  'newest_seat',
  'newest_processor',
  'newest_temperature',
  'newest_light',
  'newest_humidity',
  'newest_contact',
  'newest_reading',
  'silent_sensor',
  'door_state',
  'visitor_position',
  'visitors_on_level',
  'silent_source',
  'active_alarm',
] as const;

/** Views the service narrows to this browser's routes. */
export const OWN_VIEWS = ['nearest_destination', 'no_route', 'route_step', 'route_news'] as const;

export type ViewName = (typeof SHARED_VIEWS)[number] | (typeof OWN_VIEWS)[number];
