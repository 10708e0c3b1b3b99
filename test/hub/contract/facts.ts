/**
 * The fields of a body by path, or the parameters of a query by name. `[]` is an item of a list, and `{}` a value of a map.
 *
 * The suffix of a path: `?` the field is optional. `??` the client accepts bodies without the field, but the Hub always returns
 * it. `~` whether the field is required depends on other fields. `+` the Hub added the field after April 2026. `-` the Hub
 * removed it since.
 *
 * A fact is the kind of a value (see {@link kindOf}), or `@Name` for the fields of another body. ` | null` allows `null`, and
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

/** Valid values of a kind, at its limits, and invalid values, just beyond. */
export interface Kind {
  accepted: readonly unknown[];
  refused: readonly unknown[];
  /** The values of an enum. */
  values?: readonly string[];
}

const maxInteger = Number.MAX_SAFE_INTEGER;
const notString = [null, 1, true, {}, ["x"]];

const times = {
  accepted: ["2026-09-01T12:34:56Z", "2026-09-01T12:34:56.7Z", "2026-09-01T12:34:56.789012Z", "2024-02-29T23:59:59Z"],
  refused: [
    ...["", "Z", "0", "2026-09-01", "2026-09-01T12:34:56", "2026-09-01T12:34Z", "2026-09-01 12:34:56Z"],
    ...["2026-09-01T12:34:56+00:00", "2026-09-01T14:34:56+02:00", "2026-09-01T12:34:56.Z", "2026-09-01T24:34:56Z"],
    ...["2026-13-01T12:34:56Z", "2026-02-30T12:34:56Z", "2026-09-01T12:34:56Z ", "Tue, 01 Sep 2026 12:34:56 GMT"],
  ],
};

const hex = "0123456789abcdef01234567";
const notHex = ["", "0".repeat(23), "0".repeat(25), `${"0".repeat(23)}g`, `${hex}\n`, ` ${hex}`];
const ipv4 = ["192.0.2.0/24", "0.0.0.0/0", "255.255.255.255/32", "1.2.3.4/1", "10.99.100.199/30", "200.249.250.254/9"];
const ipv6 = [
  ...["::/0", "::1/128", "1::/1", "2001:db8::/32", "2001:DB8::/99", "2001:db8:0:0:0:0:0:1/119", "fe80::a:b:c:d/120"],
  ...["1:2:3:4:5:6:7::/127", "::2:3:4:5:6:7:8/64", "1:2:3:4:5:6:7:8/100", "::ffff:192.0.2.0/120", "::192.0.2.0/96"],
  ...["1:2:3:4:5:6:192.0.2.1/128", "1:2:3:4:5::192.0.2.1/128", "::1:2:3:4:5:192.0.2.1/128", "1::2:3:4:5:192.0.2.1/9"],
  ...["1:2::3:4:5:192.0.2.1/128", "1:2:3::4:5:192.0.2.1/128", "1:2:3:4::5:192.0.2.1/128", "64:ff9b::192.0.2.33/96"],
];
const notRange = [
  ...["", "/", "/0", "*", "192.0.2.0", "192.0.2.0/", "192.0.2.0/33", "192.0.2.0/128", "192.0.2.0/-1", "192.0.2.0/01"],
  ...["192.0.2.0/1.5", "192.0.2.0/a", "192.0.2.0/24/24", "192.0.2.0 /24", " 192.0.2.0/24", "192.0.2.0/24\n"],
  ...["192.0.2.0/255.255.255.0", "192.0.2/24", "192.0.2.0.0/24", "192.0.2./24", "256.0.0.0/8", "0.0.0.256/8"],
  ...["192.0.2.01/24", "0x7f.0.0.1/8", "2130706433/8", "example.com/24", "http://192.0.2.0/24"],
  ...["::", "::/", "::/129", "::/999", "::/064", "::/1e1", "::/64\n", " ::/64", "fe80::\n1/64", ":/64", ":::/64"],
  ...["1::2::3/64", "1:2:3:4:5:6:7/64", "1:2:3:4:5:6:7:8:9/64", "1:2:3:4:5:6:7:8::/64", "12345::/64", "g::/64"],
  ...["[::]/64", "fe80::1%eth0/64", "::ffff:192.0.2.256/96", "::ffff:192.0.2/96", "1:2:3:4:5:6:7:192.0.2.1/128"],
  ...["1:2:3:4:5:192.0.2.1/128", "::1:2:3:4:5:6:192.0.2.1/128", "1::2:3:4:5:6:192.0.2.1/128", "192.0.2.1::/128"],
  ...["1:2::3:4:5:6:192.0.2.1/128", "1:2:3:4:5:6::192.0.2.1/128", "1::2::192.0.2.1/128"],
];
const ascii = Array.from({ length: 0x60 }, (_, index) => String.fromCharCode(0x20 + index)).join("");

/** The forms of strings, by name. */
const forms: Readonly<Record<string, { accepted: readonly string[]; refused: readonly string[] }>> = {
  objectId: { accepted: [hex, "f".repeat(24)], refused: [...notHex, "F".repeat(24), `${"0".repeat(23)}A`] },
  anyCaseObjectId: { accepted: [hex, hex.toUpperCase(), "aAbBcCdDeEfF001122334455"], refused: notHex },
  timestamp: times,
  uri: {
    accepted: ["https://example.com/hook", "http://127.0.0.1:5050/avatars/acme.svg?v=1#x"],
    refused: ["", "a.png", "/avatars/acme.svg", "//example.com/a.png", "no URI"],
  },
  httpUri: {
    accepted: [
      ...["https://example.com/hook", "http://localhost:7860/", "HTTPS://EXAMPLE.COM/A?b=c&d=%20#e"],
      ...["HTTP://Example.COM:80/a/../b?", "http://[::1]:8080/x", "http://127.0.0.1/~a/(b);c=d,e!f'*+$@"],
    ],
    refused: [
      ...["", "example.com", "/hook", "//example.com", "ftp://example.com/", "mailto:a@example.com"],
      ...[
        "http:example.com",
        "javascript:alert(1)",
        "file:///etc/hosts",
        "http://",
        "https:///",
        " https://example.com",
      ],
      ...["https://example.com\n", "https://example.com/a b", "https://example.com/é", "https://example.com/%2"],
      "https://example.com/<a>",
    ],
  },
  ascii: {
    accepted: ["", " ", "\u007f", "  edges \u007f", ascii, "x".repeat(5_000)],
    refused: ["\u001f", "\u0080", "\n", "a\nb", "ab\n", "\r", "\t", "\0", "é", "😀"],
  },
  repository: {
    accepted: ["acme/data", "a/b", "acme/a.b_c-1", "gpt2"],
    refused: ["", "acme/", "/data", "acme/data/x"],
  },
  absolutePath: { accepted: ["/", "/data", "//", "/with space"], refused: ["", "data", " /data", "./data"] },
  role: { accepted: ["read", "admin", "no_access", "Data Steward", "x".repeat(300)], refused: [""] },
  token: {
    accepted: ["hf_x", "hf_0123456789abcdefABCDEF", `hf_${"x".repeat(500)}`],
    refused: ["", "hf", "hfx", "hf-x", "HF_x", " hf_x", "\nhf_x", "Bearer hf_x", "api_hf_x"],
  },
  ipRange: { accepted: [...ipv4, ...ipv6], refused: notRange },
  labelValue: { accepted: ["x", "", "E.f_g-0", "x".repeat(100)], refused: ["x".repeat(101), "x y", "x\n", "é"] },
  networkGroup: {
    accepted: ["train", "0", "a-1", "-", "x".repeat(46)],
    refused: ["", "Train", "a_b", "a.b", "a b", "a\n", "x".repeat(47)],
  },
  networkAlias: { accepted: ["master", "x".repeat(34)], refused: ["", "Master", "a.b", "x".repeat(35)] },
  label: {
    accepted: ["team=data", "a.b_c-D=", "team=a.b_c-D"],
    refused: ["", "team", "=data", "team=a b", "te am=a", "team=a=b", "team=a\n"],
  },
  // The client sends any string. The local Hub accepts only known terms.
  terms: {
    accepted: ["author:ada ip:192.0.2.1 type:org.add_user", "", " ", "ip:2001:db8::1", "  author:ada   author:bob  "],
    refused: [],
  },
  email: {
    accepted: ["ada@acme.example", "a.b+c_d-e@sub.acme.example", "Ada@ACME.EXAMPLE", "o'brien@acme.example"],
    refused: [
      ...["", "ada", "ada@", "@acme.example", "ada@acme", "ada@@acme.example", "ada lovelace@acme.example"],
      ...["ada@acme.example ", " ada@acme.example", "ada@acme.example\n", "ada@acme..example", ".ada@acme.example"],
      ...["a..b@acme.example", "ada@acme.example,bob@acme.example", "Ada <ada@acme.example>"],
      "mailto:ada@acme.example",
    ],
  },
};

const maps: Readonly<Record<string, { keys: readonly string[]; not: readonly string[] }>> = {
  variable: {
    keys: ["AB", "aZ", "A_", "A1", "LOG_LEVEL", "z9_"],
    not: ["A", "", "_A", "1A", "A-B", "A B", "ÄB", "AB\n", "__proto__"],
  },
  secret: { keys: ["AB", "A", "z", "A_1"], not: ["", "_A", "1", "A-B", "__proto__"] },
  label: {
    keys: ["AB", "a", "x".repeat(100), "a.b_c-D9", "-", ".", "_", "0", "constructor", "toString"],
    not: ["", "x".repeat(101), "a b", "a/b", "é", "__proto__"],
  },
  any: { keys: ["AB", "A", "a-b c", ""], not: [] },
};

/** A value of a map that only an invalid key makes invalid. Errors name the key. */
export class InvalidKey {
  readonly key: string;
  readonly value: unknown;

  constructor(key: string) {
    this.key = key;
    // `{ __proto__: … }` would set the prototype.
    this.value = JSON.parse(`{${JSON.stringify(key)}:"x"}`);
  }
}

/** Returns the values of a kind, such as `string ..500`, `integer 1..20`, `enum repo discussion`, or `objectId`. */
export function kindOf(kind: string): Kind {
  const [name = "", ...rest] = kind.split(" ");
  const form = forms[name];
  if (form) return { accepted: form.accepted, refused: [...notString, ...form.refused] };
  const [least = "", most = ""] = (rest[0] ?? "..").split("..");
  switch (name) {
    case "string":
      return stringKind(Number(least), most === "" ? undefined : Number(most));
    case "integer":
      return integerKind(Number(least), most === "" ? maxInteger : Number(most));
    case "number":
      return { accepted: [1, 0, -1, 1.5, maxInteger], refused: [null, "1", true, {}, [1]] };
    case "boolean": {
      const refused = [null, "true", "", 0, {}, [true]];
      return { accepted: [true, false, ...rest.slice(1)], refused, ...(rest.length > 0 && { values: rest.slice(1) }) };
    }
    case "true":
    case "false":
      return { accepted: [name === "true"], refused: [null, name, 1, {}] };
    case "enum": {
      const values = rest.map((value) => value.replace(/^[+-]/, ""));
      const near = values
        .slice(0, 2)
        .flatMap((value) => [`${value}s`, ` ${value}`, value.toUpperCase(), value.slice(0, -1)]);
      const refused = near.filter((value) => !values.includes(value));
      return { accepted: values, refused: [null, "", 0, {}, [values[0]], ...refused], values };
    }
    case "list":
      return { accepted: [], refused: [null, "", 0, true, {}, { 0: "x" }] };
    case "map": {
      const { keys = [], not = [] } = maps[rest[0] ?? ""] ?? {};
      const accepted = [{}, ...keys.map((key) => ({ [key]: "x" }))];
      return { accepted, refused: [null, "x", ["x"], ...not.map((key) => new InvalidKey(key))] };
    }
    case "object":
    case "closed":
    case "ignoring":
    case "loose":
      return { accepted: [], refused: [null, "", 0, true, [], [{}]] };
    case "any":
      return { accepted: [{ deep: [null] }, null, "x", 1, true, []], refused: [] };
    default:
      throw new Error(`Unknown kind "${kind}".`);
  }
}

function stringKind(least: number, most: number | undefined): Kind {
  const long = most === undefined ? ["é 😀\n", "x".repeat(5_000)] : ["x".repeat(most), "😀".repeat(most)];
  const tooLong = most === undefined ? [] : ["x".repeat(most + 1), "😀".repeat(most + 1)];
  return {
    accepted: ["x", ...(least > 0 ? ["x".repeat(least)] : [""]), ...long],
    refused: [...notString, ...(least > 0 ? ["x".repeat(least - 1)] : []), ...tooLong],
  };
}

function integerKind(least: number, most: number): Kind {
  return {
    accepted: [least, least + 1, most],
    refused: [null, least - 1, least + 0.5, most + 1, 1e300, String(least), true, {}],
  };
}
