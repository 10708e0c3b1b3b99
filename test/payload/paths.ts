/** Where something stands inside a JSON value. */
export type Path = readonly (string | number)[];

/** The way to every object, list and leaf inside a JSON value, without the value as a whole. */
export function pathsIn(value: unknown, above: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = [...above, Array.isArray(value) ? Number(key) : key];
    return [path, ...pathsIn(inner, path)];
  });
}

/** What stands at a path. */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined), value);
}

/** A copy of the value in which `change` stands at the path; `undefined` takes the key away, as JSON does. */
export function changedAt(value: unknown, path: Path, change: unknown): unknown {
  const copy = structuredClone(value);
  const parent = valueAt(copy, path.slice(0, -1));
  const key = path.at(-1);
  if (typeof parent !== "object" || parent === null || key === undefined) return change;
  // Not by assignment: that of a "__proto__" would change the prototype, where JSON.parse makes a field.
  Object.defineProperty(parent, key, { value: change, enumerable: true, configurable: true, writable: true });
  if (change === undefined) Reflect.deleteProperty(parent, key);
  return copy;
}
