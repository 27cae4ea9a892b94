/** The page's state in the address: what can be shared, bookmarked and gone back to. */

export interface Address {
  readonly level: string | null;
  readonly kiosk: string | null;
  /** A room to start from instead of a kiosk. */
  readonly from: string | null;
  /** What is looked for: free-machine:<software>, room:<rid>, machine:<mid>, or a destination. */
  readonly goal: string | null;
  readonly stepFree: boolean;
  /** machine:<mid>, room:<rid>, door:<id> or sensor:<sid>. */
  readonly select: string | null;
  /** A query whose rows are drawn on the plan. */
  readonly layer: string | null;
  /** What fills the rooms of the plan: temperature, light, … */
  readonly overlay: string | null;
  readonly list: boolean;
}

export function readAddress(query: string): Address {
  const given = new URLSearchParams(query);
  return {
    level: given.get('level'),
    kiosk: given.get('kiosk'),
    from: given.get('from'),
    goal: given.get('to'),
    stepFree: given.get('step_free') === '1',
    select: given.get('select'),
    layer: given.get('layer'),
    overlay: given.get('overlay'),
    list: given.get('view') === 'list',
  };
}

export function writeAddress(address: Address): string {
  const given = new URLSearchParams();
  if (address.level !== null) given.set('level', address.level);
  if (address.kiosk !== null) given.set('kiosk', address.kiosk);
  if (address.from !== null) given.set('from', address.from);
  if (address.goal !== null) given.set('to', address.goal);
  if (address.stepFree) given.set('step_free', '1');
  if (address.select !== null) given.set('select', address.select);
  if (address.layer !== null) given.set('layer', address.layer);
  if (address.overlay !== null) given.set('overlay', address.overlay);
  if (address.list) given.set('view', 'list');
  const text = given.toString();
  return text === '' ? '' : `?${text}`;
}
