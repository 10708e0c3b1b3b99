import { readdirSync, readFileSync } from "node:fs";

const folder = new URL("../fixtures/", import.meta.url);

/** The payloads in test/fixtures, by file name without extension. */
export const fixtureNames: readonly string[] = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .map((file) => file.slice(0, -".json".length));

/** Parses a fixture into a new object. */
export function readFixture(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8"));
}

/** Each scope that the Hub is known to have, with each of its actions. */
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
