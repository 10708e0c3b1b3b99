import { requests, responses } from "./bodies.ts";
import { type Fact, InvalidKey, join, type Kind, keysOf, kindOf, parseFact, shownPath } from "./facts.ts";

/** A body to check, made from one fact. */
export interface Case {
  /** The fact, and the value that the case tests. */
  title: string;
  body: unknown;
  /** The result of parsing a valid body. */
  parsed?: unknown;
  /** The field that the error names, for an invalid body. */
  refused?: string;
  /** Whether the document is stricter than the schema, which fills in the field. */
  isInvalidByDocument?: boolean;
}

type Body = Record<string, unknown>;

/** The names of all bodies. */
export const bodyNames: readonly string[] = [...Object.keys(requests), ...Object.keys(responses)];

/** Returns the facts of each variant of a body. References are resolved. */
export function variantsOf(name: string): Fact[][] {
  const found = requests[name] ?? responses[name];
  if (found === undefined) throw new Error(`There is no body "${name}".`);
  return [found].flat().flatMap((fields) => expand(Object.entries(fields).map(parseFact)));
}

function expand(facts: Fact[]): Fact[][] {
  const at = facts.findIndex(({ kind }) => kind.startsWith("@"));
  const reference = facts[at];
  if (!reference) return [facts];
  return variantsOf(reference.kind.slice(1)).flatMap((inner) => {
    const { kind = "object" } = inner.find(({ path }) => path === "") ?? {};
    const own = inner.filter(({ path }) => path !== "");
    const nested = own.map((fact) => ({ ...fact, path: join(reference.path, fact.path), isReferenced: true }));
    return expand([...facts.slice(0, at), { ...reference, kind }, ...nested, ...facts.slice(at + 1)]);
  });
}

/** Returns a body with every field, or with only the required ones. */
export function sampleOf(facts: readonly Fact[], { isComplete = true }: { isComplete?: boolean } = {}): Body {
  const body: Body = {};
  const left: string[] = [];
  for (const { path, kind, presence } of facts) {
    const isLeft = left.some((parent) => path.startsWith(`${parent}.`) || path.startsWith(`${parent}[`));
    const isMap = left.includes(path.replace(/\{\}$/, ""));
    if (isLeft || isMap || path === "") continue;
    if (!isComplete && presence === "optional") left.push(path);
    else setAt(body, keysOf(path), sampleValue(kind));
  }
  return body;
}

function sampleValue(kind: string): unknown {
  if (kind.startsWith("list")) return [];
  return /^(object|closed|loose|map)\b/.test(kind) ? {} : kindOf(kind).accepted[0];
}

/** Sets a value in a body, and creates its parents. `undefined` removes it. */
function setAt(body: Body, keys: readonly (string | number)[], value: unknown): void {
  let parent: object = body;
  for (const [index, key] of keys.slice(0, -1).entries()) {
    if (!Object.hasOwn(parent, key)) Reflect.set(parent, key, typeof keys[index + 1] === "number" ? [] : {});
    parent = Object(Reflect.get(parent, key));
  }
  const last = keys.at(-1) ?? "";
  if (value === undefined) Reflect.deleteProperty(parent, last);
  else Reflect.set(parent, last, value);
}

function changed(body: Body, path: string, value: unknown): Body {
  const copy = structuredClone(body);
  setAt(copy, keysOf(path), value);
  return copy;
}

/** Returns the body as the schema parses it: with the defaults of missing fields. */
function withDefaults(facts: readonly Fact[], body: unknown): unknown {
  const parsed = structuredClone(body);
  for (const { path, fallback } of facts) {
    const keys = keysOf(path);
    const parent = keys.slice(0, -1).reduce<unknown>((value, key) => Object(value)[key], parsed);
    if (fallback === undefined || typeof parent !== "object" || parent === null) continue;
    if (!Object.hasOwn(parent, keys.at(-1) ?? "")) Reflect.set(parent, keys.at(-1) ?? "", fallback);
  }
  return parsed;
}

/** Returns the cases of each fact of a body, and of its combinations. A fact of several variants is checked once. */
export function casesOf(name: string): Case[] {
  const variants = variantsOf(name);
  const all = variants.flat();
  const accept = (title: string, body: unknown): Case => ({ title, body, parsed: withDefaults(all, body) });
  const seen = new Set<string>();
  const isNew = (key: string) => !seen.has(key) && seen.add(key) !== undefined;
  const cases = variants.flatMap((facts) => {
    const body = sampleOf(facts);
    const whole = { body, accept, isRequest: name in requests };
    return [
      accept("every field", body),
      accept("only the required fields", sampleOf(facts, { isComplete: false })),
      ...facts.filter((fact) => isNew(JSON.stringify(fact))).flatMap((fact) => casesOfFact(fact, whole)),
      ...objectsIn(facts)
        .filter(({ path, kind }) => isNew(`${path} ${kind}`))
        .flatMap((object) => unknownFields(object, whole)),
    ];
  });
  return [...cases, ...combined(name, accept)];
}

/** A valid body with every field of a variant. */
interface Whole {
  body: Body;
  accept: (title: string, body: unknown) => Case;
  isRequest: boolean;
}

function casesOfFact({ path, kind, isNullable, presence, isReferenced }: Fact, { body, accept }: Whole): Case[] {
  const { accepted, refused } = isReferenced ? shorten(kindOf(kind)) : kindOf(kind);
  const isList = kind.startsWith("list");
  const title = (value: unknown) => `${path || "the body"} is ${cut(kind)}: ${show(value)}`;
  const at = (value: unknown) => (path === "" ? value : changed(body, path, value));
  const [valid, invalid] = isList ? lengthsOf(kind, body, path) : [accepted, refused];
  const cases = [
    ...[...valid, ...(isNullable ? [null] : [])].map((value) => accept(title(value), at(value))),
    ...[...invalid, ...(isList ? refused : [])]
      .filter((value) => !(isNullable && value === null))
      .map((value): Case => {
        const keys = value instanceof InvalidKey ? [...keysOf(path), value.key] : keysOf(path);
        const given = value instanceof InvalidKey ? value.value : value;
        return { title: title(given), body: at(given), refused: shownPath(keys) };
      }),
  ];
  if (presence === "conditional" || !/\w$/.test(path)) return cases;
  const missing = `${path} is ${presence}, but missing`;
  if (presence === "required")
    return [...cases, { title: missing, body: at(undefined), refused: shownPath(keysOf(path)) }];
  return [...cases, { ...accept(missing, at(undefined)), isInvalidByDocument: presence === "returned" }];
}

function shorten({ accepted, refused }: Kind): Kind {
  return { accepted: accepted.slice(0, 1), refused: [...refused.slice(0, 1), ...refused.slice(-1)] };
}

/** Returns lists at the limits of a length such as `1..20`, and lists beyond. */
function lengthsOf(kind: string, body: Body, path: string): [unknown[], unknown[]] {
  const [least = "", most = ""] = (kind.split(" ")[1] ?? "").split("..");
  const [item]: unknown[] = keysOf(path).reduce((value, key) => Object(value)[key], Object(body));
  const many = (length: number) => Array.from({ length }, () => item);
  const longest = item === undefined ? [] : [many(most === "" ? 300 : Number(most))];
  return [
    [many(Number(least)), ...longest],
    [...(Number(least) > 0 ? [[]] : []), ...(most === "" ? [] : [many(Number(most) + 1)])],
  ];
}

/** Returns the objects of a body, with their kinds. */
export function objectsIn(facts: readonly Fact[]): { path: string; kind: string }[] {
  const parents = facts.flatMap(({ path }) => {
    const parts = path.split(".").slice(0, -1);
    return parts.map((_, index) => parts.slice(0, index + 1).join("."));
  });
  return [...new Set(["", ...parents])].map((path) => ({
    path,
    kind: facts.find((fact) => fact.path === path)?.kind ?? "object",
  }));
}

function unknownFields({ path, kind }: { path: string; kind: string }, { body, accept, isRequest }: Whole): Case[] {
  return ["unknown", "Type"].map((name): Case => {
    const at = join(path, name);
    const given = changed(body, at, { x: 1 });
    const title = `${at} is an unknown field of a ${kind}`;
    if (kind === "loose") return { title, body: given, parsed: given };
    const isIgnored = kind === "ignoring" || (isRequest && kind === "object");
    return isIgnored ? { ...accept(title, body), body: given } : { title, body: given, refused: shownPath(keysOf(at)) };
  });
}

function combined(name: string, accept: Whole["accept"]): Case[] {
  const [facts = []] = variantsOf(name);
  return combinations
    .filter(({ body }) => body === name)
    .map(({ changes, refused }) => {
      const body = Object.entries(changes).reduce((whole, [at, value]) => changed(whole, at, value), sampleOf(facts));
      const title = `changes ${show(changes)}`;
      return refused === undefined ? accept(title, body) : { title, body, refused };
    });
}

function show(value: unknown): string {
  return cut(JSON.stringify(value, (_, part) => part ?? null));
}

function cut(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text;
}

/** A combination of fields, as changes to the first variant of a body. `undefined` removes a field. */
export interface Combination {
  body: string;
  changes: Readonly<Record<string, unknown>>;
  /** The field that the error names. Missing if the combination is valid. */
  refused?: string;
}

const bucket = { type: "bucket", source: "a/b", mountPath: "/x" };
const target = { jobSourceId: "job-1", job: { flavor: "cpu-basic" } };
const launch = { notifications: { launch_prepaid_credits: true } };

/** The rules for several fields together. */
const combinations: readonly Combination[] = [
  { body: "WebhookRequest", changes: { url: undefined }, refused: "url" },
  { body: "WebhookUpdate", changes: { url: undefined } },
  ...["WebhookRequest", "WebhookUpdate"].flatMap((body) => [
    { body, changes: { jobSourceId: target.jobSourceId }, refused: "url" },
    { body, changes: { job: target.job }, refused: "url" },
    { body, changes: { url: undefined, ...target }, refused: "url" },
  ]),
  {
    body: "WebhookJobRequest",
    changes: { volumes: [{ ...bucket, revision: "main" }] },
    refused: "volumes[0].revision",
  },
  { body: "WebhookJobRequest", changes: { volumes: [bucket] } },
  { body: "NotificationSettingsChange", changes: { ...launch, prepaidAmount: undefined }, refused: "prepaidAmount" },
  { body: "NotificationSettingsChange", changes: launch },
  { body: "NotificationSettingsChange", changes: { notifications: {}, prepaidAmount: undefined } },
  { body: "ResourceGroup", changes: { resources: undefined } },
  { body: "ResourceGroup", changes: { repos: undefined } },
  { body: "ResourceGroup", changes: { resources: undefined, repos: undefined }, refused: "resources" },
  { body: "JobHardware", changes: { accelerator: null } },
];

/** Strings and values of a query parameter. */
export interface ParameterCases {
  /** Each valid string, with its value. */
  accepted: readonly { text: string; value: unknown }[];
  refused: readonly string[];
  /** Values that a caller of the client cannot pass. */
  refusedValues: readonly unknown[];
  /** Whether the parameter can be repeated. */
  isList: boolean;
}

const notDigits = [
  ...["", " ", "-1", "-0", "+100", "0100", "01", "100.0", "100.5", "100.", "1e3", "0x100", "100 ", " 100", "100\n"],
  ...["1_00", "1,000", "１００", "Infinity", "NaN", "null", "true", "x", "99999999999999999999"],
];

/** Returns the cases of a parameter of this kind. `some` before a kind: the parameter can be repeated. */
export function parameterCases(given: string): ParameterCases {
  const isList = given.startsWith("some ");
  const kind = given.replace("some ", "");
  const { accepted, refused } = kindOf(kind);
  if (kind.startsWith("integer")) {
    const [least = 0, most = Number.MAX_SAFE_INTEGER] = (kind.split(" ")[1] ?? "")
      .split("..")
      .filter(Boolean)
      .map(Number);
    return {
      accepted: [least, least + 1, 499, most - 1, most].map((value) => ({ text: String(value), value })),
      refused: [...(least > 0 ? [String(least - 1)] : []), String(BigInt(most) + 1n), ...notDigits],
      refusedValues: [least - 1, most + 1, 100.5, Number.NaN, Number.POSITIVE_INFINITY, "100", null, true, [100]],
      isList,
    };
  }
  if (kind === "boolean") {
    return {
      accepted: [true, false].map((value) => ({ text: String(value), value })),
      refused: ["", "1", "0", "yes", "on", "True", "TRUE", " true", "true\n", "null"],
      refusedValues: [null, 0, 1, "true", "false", []],
      isList,
    };
  }
  return {
    accepted: accepted.map((value) => ({ text: String(value), value })),
    refused: refused.filter((value) => typeof value === "string"),
    refusedValues: refused.filter((value) => !(value instanceof InvalidKey) && !(isList && Array.isArray(value))),
    isList,
  };
}

/** Parses a query string to the type in the document: a number or a boolean if it has this form. */
export function toDocumentValue(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  return String(Number(text)) === text ? Number(text) : text;
}
