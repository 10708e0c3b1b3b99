/** Reads a field of a value of which nothing is known; what the value only inherits does not count. */
export function ownField(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
