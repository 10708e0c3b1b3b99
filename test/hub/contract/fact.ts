/**
 * The fields of a body by path, or the parameters of a query by name. `[]` is an item of a list, and `{}` a value of a map.
 *
 * The suffix of a path: `?` the field is optional. `??` the client accepts bodies without the field, but the Hub always returns
 * it. `~` whether the field is required depends on other fields. `+` the Hub added the field after April 2026. `-` the Hub
 * removed it since.
 *
 * A fact is the kind of a value (see `kinds.ts`), or `@Name` for the fields of another body. ` | null` allows `null`, and
 * ` = JSON` is the default. Objects without a fact of their own are required.
 */
export type Fields = Readonly<Record<string, string>>;

/** A field with its rules. */
export interface Fact {
  path: string;
  /** Such as `string ..500`. */
  kind: string;
  isNullable: boolean;
  /** `undefined` if there is no default. */
  fallback: unknown;
  presence: "required" | "optional" | "returned" | "conditional";
  change: "added" | "removed" | undefined;
  /** Whether the fact belongs to another body, whose tests check all limits. */
  isReferenced?: boolean;
}

const presences = new Map<string, Fact["presence"]>([
  ["?", "optional"],
  ["??", "returned"],
  ["~", "conditional"],
]);

/** Reads one line of a table. */
export function parseFact([key, rule]: [string, string]): Fact {
  const {
    path = "",
    presence = "",
    change,
  } = /^(?<path>.*?)(?<presence>\?\??|~)?(?<change>[+-])?$/.exec(key)?.groups ?? {};
  const {
    kind = "",
    nullable,
    fallback,
  } = /^(?<kind>.*?)(?<nullable> \| null)?(?: = (?<fallback>.*))?$/.exec(rule)?.groups ?? {};
  return {
    path,
    kind,
    isNullable: nullable !== undefined,
    fallback: fallback === undefined ? undefined : JSON.parse(fallback),
    presence: presences.get(presence) ?? "required",
    change: change === "+" ? "added" : change === "-" ? "removed" : undefined,
  };
}

/** Returns fields of the same kind. */
export function of(kind: string, names: string): Fields {
  return Object.fromEntries(names.split(" ").map((name) => [name, kind]));
}

/** Returns the fields with a prefix, as in `resources[].name`. */
export function under(prefix: string, fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([path, fact]) => [join(prefix, path), fact]));
}

export function join(parent: string, path: string): string {
  if (parent === "" || path === "") return parent + path;
  return /^[[{]/.test(path) ? parent + path : `${parent}.${path}`;
}

/** Returns the keys of a path. Lists have one item, and maps have the key {@link mapKey}. */
export function keysOf(path: string): (string | number)[] {
  return [...path.matchAll(/\[\]|\{\}|[^.[{]+/g)].map(([key]) => (key === "[]" ? 0 : key === "{}" ? mapKey : key));
}

/** A valid key of every map. */
const mapKey = "AB";

/** Returns the path as errors show it, such as `watched[0].type`. */
export function shownPath(keys: readonly PropertyKey[]): string {
  return keys
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .replace(/^\./, "");
}
