/** The element at an index that is in range by construction; counted from the end when negative. */
export function elementAt<T>(list: readonly T[], index: number): T {
  const found = list.at(index);
  if (found === undefined) throw new RangeError(`no element ${index} among ${list.length}`);
  return found;
}
