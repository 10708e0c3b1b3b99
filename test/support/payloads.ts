import { readdirSync, readFileSync } from "node:fs";

const folder = new URL("../fixtures/", import.meta.url);

/** Names of the payloads in test/fixtures, without extension. */
export const fixtureNames: readonly string[] = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .map((file) => file.slice(0, -".json".length));

/** Parses a fixture into a new object. */
export function readFixture(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8"));
}

/** Known scopes of the Hub, each with its actions. */
export const knownEvents = [
  ["repo", "create"],
  ["repo", "delete"],
  ["repo", "update"],
  ["repo", "move"],
  ["repo.content", "update"],
  ["repo.config", "update"],
  ["discussion", "create"],
  ["discussion", "delete"],
  ["discussion", "update"],
  ["discussion.comment", "create"],
  ["discussion.comment", "update"],
] as const;

/** The path of a value inside a JSON value. */
export type Path = readonly (string | number)[];

/** Returns the paths of all objects, lists, and leaves inside a JSON value, without the root. */
export function pathsIn(value: unknown, above: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = [...above, Array.isArray(value) ? Number(key) : key];
    return [path, ...pathsIn(inner, path)];
  });
}

/** Returns the value at a path. */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined), value);
}

/** Returns a copy of the value with `change` at the path. `undefined` removes the key, as in JSON. */
export function changedAt(value: unknown, path: Path, change: unknown): unknown {
  const copy = structuredClone(value);
  const parent = valueAt(copy, path.slice(0, -1));
  const key = path.at(-1);
  if (typeof parent !== "object" || parent === null || key === undefined) return change;
  // An assignment to "__proto__" would change the prototype, whereas JSON.parse creates a property.
  Object.defineProperty(parent, key, { value: change, enumerable: true, configurable: true, writable: true });
  if (change === undefined) Reflect.deleteProperty(parent, key);
  return copy;
}
