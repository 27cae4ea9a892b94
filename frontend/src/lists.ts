/** The element at an index that is in range by construction; counted from the end when negative. */
export function elementAt<T>(list: readonly T[], index: number): T {
  const found = list.at(index);
  if (found === undefined) throw new RangeError(`no element ${index} among ${list.length}`);
  return found;
}

/** Elements by key, each list in the order given. */
export function grouped<K, T>(list: Iterable<T>, key: (element: T) => K): Map<K, T[]> {
  const found = new Map<K, T[]>();
  for (const element of list) {
    const held = found.get(key(element));
    if (held) held.push(element);
    else found.set(key(element), [element]);
  }
  return found;
}
