import { repoTypes, timestamps } from "./fields.ts";
import { auditLogTypes } from "./organizations/audit-log-bounds.ts";

/** The rules of the specification for one query parameter. */
export interface ParameterBounds {
  name: string;
  /** Each valid string, with its value. */
  accepted: { text: string; value: unknown }[];
  refused: string[];
  /** Strings that the local Hub rejects and the client sends, because the Hub may accept them one day. */
  refusedByLocalHub?: string[];
  /** Values that a caller of the client cannot pass, because no valid string represents them. */
  refusedValues: unknown[];
  /** Whether the parameter can be repeated. */
  isList?: boolean;
}

/** The rules of the specification for the query of one operation. */
export interface QueryTable {
  method: "get" | "delete" | "post";
  path: string;
  parameters: ParameterBounds[];
  /** The value of each parameter that is left out. */
  defaults: Record<string, unknown>;
  /** Parameters of other operations that this one does not have. */
  unknown: string[];
}

/** Returns the rules of a parameter that is an integer from `minimum` to `maximum`. */
function wholeNumber({ name, minimum, maximum }: { name: string; minimum: number; maximum: number }): ParameterBounds {
  const inside = [minimum, minimum + 1, 499, 500, maximum - 1, maximum];
  const below = minimum > 0 ? ["0", "1", String(minimum - 1)] : [];
  return {
    name,
    accepted: inside.map((value) => ({ text: String(value), value })),
    refused: [
      ...below,
      String(BigInt(maximum) + 1n),
      String(BigInt(maximum) * 10n),
      "99999999999999999999",
      "",
      " ",
      "-1",
      "-0",
      "+100",
      "0100",
      "01",
      "100.0",
      "100.5",
      "100.",
      "1e3",
      "0x100",
      "100 ",
      " 100",
      "100\n",
      "1_00",
      "1,000",
      "１００",
      "Infinity",
      "NaN",
      "null",
      "true",
      "x",
    ],
    refusedValues: [minimum - 1, maximum + 1, 100.5, Number.NaN, Number.POSITIVE_INFINITY, "100", null, true, [100]],
  };
}

function texts(name: string): ParameterBounds {
  const accepted = ["", "x", "acme/data", "é 😀 &=+%/?#", "0", "true", "x".repeat(1_000)];
  return {
    name,
    accepted: accepted.map((text) => ({ text, value: text })),
    refused: [],
    refusedValues: [null, 1, true, ["x"], {}],
  };
}

function oneOf(name: string, values: string[]): ParameterBounds {
  const refused = ["", ...values.flatMap((value) => [`${value}s`, ` ${value}`, `${value}\n`, value.toUpperCase()])];
  return {
    name,
    accepted: values.map((text) => ({ text, value: text })),
    refused: refused.filter((text) => !values.includes(text)),
    refusedValues: [
      null,
      1,
      "",
      [values[0]],
      ...values.map((value) => value.toUpperCase()).filter((value) => !values.includes(value)),
    ],
  };
}

function oneOrMore(name: string, values: string[]): ParameterBounds {
  const { refusedValues, ...bounds } = oneOf(name, values);
  return { ...bounds, refusedValues: refusedValues.filter((value) => !Array.isArray(value)), isList: true };
}

const shared: ParameterBounds[] = [
  wholeNumber({ name: "p", minimum: 0, maximum: 9007199254740991 }),
  oneOf("readStatus", ["all", "unread"]),
  oneOf("repoType", repoTypes),
  texts("repoName"),
  texts("postAuthor"),
  texts("paperId"),
  texts("articleId"),
  oneOf("mention", ["all", "participating", "mentions"]),
  {
    name: "lastUpdate",
    accepted: timestamps.accepted.map((text) => ({ text, value: text })),
    refused: timestamps.refused,
    refusedValues: [null, 0, ...timestamps.refused],
  },
];

const sharedDefaults = { p: 0, readStatus: "all", mention: "all" };
const applying: Pick<QueryTable, "parameters" | "defaults" | "unknown"> = {
  parameters: [
    ...shared,
    {
      name: "applyToAll",
      accepted: [
        { text: "true", value: true },
        { text: "false", value: false },
      ],
      refused: ["", "1", "0", "yes", "no", "on", "True", "TRUE", "False", " true", "true\n", "null"],
      refusedValues: [null, 0, 1, "true", "false", []],
    },
  ],
  defaults: { ...sharedDefaults, applyToAll: false },
  unknown: ["page", "limit", "q", "P", "read", "applytoall", "discussionIds"],
};

const members = "/api/organizations/{name}/members";
const jobs = "/api/jobs/{namespace}";
const stages = ["COMPLETED", "CANCELED", "ERROR", "DELETED", "RUNNING", "SCHEDULING"];
const emails = ["ada@acme.example", "a.b+c_d-e@sub.acme.example", "Ada@ACME.EXAMPLE", "o'brien@acme.example"];

/** Every query of the specification, at its limits and beyond. */
export const queryTables: QueryTable[] = [
  {
    method: "get",
    path: "/api/notifications",
    parameters: shared,
    defaults: sharedDefaults,
    unknown: ["applyToAll", "page", "limit", "q", "P", "read"],
  },
  { method: "delete", path: "/api/notifications", ...applying },
  { method: "post", path: "/api/notifications/mark-as-read", ...applying },
  {
    method: "get",
    path: "/api/organizations/{name}/audit-log/export",
    parameters: [
      {
        name: "q",
        accepted: [
          "",
          " ",
          "author:ada",
          "ip:192.0.2.1",
          "ip:2001:db8::1",
          ...auditLogTypes.map((type) => `type:${type}`),
          "author:ada ip:192.0.2.1 type:org.add_user",
          "  author:ada   author:bob  ",
        ].map((text) => ({ text, value: text })),
        refused: [],
        refusedByLocalHub: [
          "ada",
          "author",
          "author:",
          "author: ada",
          "Author:ada",
          "user:ada",
          "author:ada bob",
          "author:ada ip:",
        ],
        refusedValues: [null, 1, true, ["author:ada"]],
      },
    ],
    defaults: {},
    unknown: ["limit", "cursor", "Q", "author", "type"],
  },
  {
    method: "get",
    path: "/api/organizations/{name}/avatar",
    parameters: [texts("redirect")],
    defaults: {},
    unknown: ["Redirect", "size", "dest"],
  },
  {
    method: "get",
    path: members,
    parameters: [
      texts("search"),
      {
        name: "email",
        accepted: emails.map((text) => ({ text, value: text })),
        refused: [
          "",
          "ada",
          "ada@",
          "@acme.example",
          "ada@acme",
          "ada@@acme.example",
          "ada lovelace@acme.example",
          "ada@acme.example ",
          " ada@acme.example",
          "ada@acme.example\n",
          "ada@acme..example",
          ".ada@acme.example",
          "ada.@acme.example",
          "a..b@acme.example",
          "ada@acme.example,bob@acme.example",
          "Ada <ada@acme.example>",
          "mailto:ada@acme.example",
        ],
        refusedValues: [null, 1, "ada", ["ada@acme.example"]],
      },
      texts("cursor"),
      wholeNumber({ name: "limit", minimum: 10, maximum: 10_000 }),
    ],
    defaults: { limit: 500 },
    unknown: ["p", "q", "Limit", "role", "name"],
  },
  {
    method: "get",
    path: jobs,
    parameters: [
      oneOrMore("stage", stages),
      {
        name: "label",
        accepted: ["team=data", "a.b_c-D=", "team=a.b_c-D"].map((text) => ({ text, value: text })),
        refused: ["", "team", "=data", "team=a b", "te am=a", "team=a=b", "team=a\n"],
        refusedValues: [null, 1, "team", { team: "data" }],
        isList: true,
      },
      {
        name: "cursor",
        accepted: ["", "x", "x".repeat(2048)].map((text) => ({ text, value: text })),
        refused: ["x".repeat(2049)],
        refusedValues: [null, 1, ["x"]],
      },
    ],
    defaults: {},
    unknown: ["limit", "stages", "labels", "namespace"],
  },
  {
    method: "get",
    path: `${jobs}/count`,
    parameters: [oneOrMore("stage", stages)],
    defaults: {},
    unknown: ["label", "cursor", "Stage"],
  },
  {
    method: "get",
    path: `${jobs}/{jobId}/logs`,
    parameters: [wholeNumber({ name: "tail", minimum: 0, maximum: 9007199254740991 })],
    defaults: {},
    unknown: ["follow", "since", "Tail"],
  },
];
