/** Reads a field of any value. Returns `undefined` if the field is missing or its getter throws. Never throws. */
export function readField(value: unknown, name: PropertyKey): unknown {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  try {
    return Reflect.get(value, name);
  } catch {
    return undefined;
  }
}

/** Reads a field of parsed JSON. Returns `undefined` if the field is missing or inherited, such as `constructor`. */
export function readOwnField(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
