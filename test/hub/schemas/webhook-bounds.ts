import type { Bound } from "./bounds.ts";
import { ignoredField, otherFieldsIgnored } from "./fields.ts";
import { webhookJobBounds, webhookJobRequestBounds, webhookJobResponseBounds } from "./job-bounds.ts";

const watchedTypes = ["dataset", "model", "space", "bucket", "kernel", "user", "org"];
const printable = Array.from({ length: 0x80 - 0x20 }, (_, index) => String.fromCharCode(0x20 + index)).join("");

/** The rules of the specification for a create or update body that posts to a URL. */
export const urlRequestBounds: Bound[] = [
  {
    rule: "watched is an array of at least one item, and required",
    at: "watched",
    accepted: [
      watchedTypes.map((type) => ({ type, name: "acme" })),
      Array.from({ length: 200 }, (_, index) => ({ type: "model", name: `acme/${index}` })),
    ],
    refused: [
      { value: undefined },
      { value: [] },
      { value: null },
      { value: { type: "model", name: "a/b" } },
      { value: ["model:a/b"], names: "watched[0]" },
      { value: [{ type: "model", name: "a/b" }, null], names: "watched[1]" },
    ],
  },
  {
    rule: "a watched type is one of seven, and required",
    at: "watched[0].type",
    accepted: watchedTypes,
    refused: [undefined, null, "", "repo", "datasets", "Model", "organization", 1].map((value) => ({ value })),
  },
  {
    rule: "a watched name is a string, and required",
    at: "watched[0].name",
    accepted: ["a", "acme/data", "acme"],
    refused: [undefined, null, 1, "", ["acme/data"]].map((value) => ({ value })),
  },
  ignoredField("watched[0].avatarUrl", ["https://example.com/a"]),
  {
    rule: "domains is an array of at least one of two, and required",
    at: "domains",
    accepted: [["repo"], ["discussion"], ["repo", "discussion"], ["discussion", "repo"]],
    refused: [
      { value: undefined },
      { value: [] },
      { value: null },
      { value: "repo" },
      { value: ["discussions"], names: "domains[0]" },
      { value: ["repo", "commit"], names: "domains[1]" },
      { value: ["repo", null], names: "domains[1]" },
    ],
  },
  {
    rule: "url is a URI, of http or https",
    at: "url",
    accepted: [
      "http://localhost:7860/",
      "https://example.com",
      "HTTPS://EXAMPLE.COM/A?b=c&d=%20#e",
      "http://[::1]:8080/x",
      "http://127.0.0.1/~a/(b);c=d,e!f'*+$@",
    ],
    refused: [
      null,
      "",
      "example.com",
      "/hook",
      "//example.com",
      "ftp://example.com/",
      "mailto:a@example.com",
      "javascript:alert(1)",
      "file:///etc/hosts",
      "http:example.com",
      "http://",
      "https:///",
      " https://example.com",
      "https://example.com\n",
      "https://example.com/a b",
      "https://example.com/\ta",
      "https://example.com/é",
      "https://example.com/%2",
      "https://example.com/<a>",
      1,
      {},
    ].map((value) => ({ value })),
  },
  {
    rule: "secret contains only the code points 0x20 to 0x7F",
    at: "secret",
    accepted: [undefined, "", " ", "\u007f", printable, "x".repeat(5_000)],
    refused: [null, 1, "\u001f", "\u0080", "\n", "a\nb", "ab\n", "\r", "\t", "\0", "é", "😀"].map((value) => ({
      value,
    })),
  },
  {
    rule: "exactly one target",
    at: "url",
    accepted: [],
    refused: [{ value: undefined }],
  },
  {
    rule: "exactly one target",
    at: "jobSourceId",
    accepted: [undefined],
    refused: [{ value: "job-1", names: "url" }],
  },
  {
    rule: "exactly one target",
    at: "job",
    accepted: [undefined],
    refused: [{ value: { flavor: "cpu-basic" }, names: "url" }],
  },
  ...otherFieldsIgnored(["", "watched[0]"]),
  ...["id", "disabled", "hasSecret", "lastTriggerAt"].map((at) =>
    ignoredField(at, ["0123456789abcdef01234567", false]),
  ),
  {
    rule: "a body is an object",
    at: "",
    accepted: [],
    refused: [null, [], "text", 1, true].map((value) => ({ value })),
  },
];

/** The rules of the specification for a body that runs a source job. */
export const jobSourceRequestBounds: Bound[] = [
  {
    rule: "jobSourceId is a string",
    at: "jobSourceId",
    accepted: ["x", "6543210fedcba9876543210f"],
    refused: [{ value: null }, { value: 1 }, { value: "" }, { value: undefined, names: "url" }],
  },
];

/** The rules of the specification for a body that runs a job. */
export const jobRequestBounds: Bound[] = [
  ...webhookJobBounds,
  ...webhookJobRequestBounds,
  {
    rule: "a job is an object, and other fields of it are ignored",
    at: "job",
    accepted: [{ flavor: "cpu-basic" }],
    refused: [
      { value: null },
      { value: "cpu-basic" },
      { value: {}, names: "job.flavor" },
      { value: undefined, names: "url" },
    ],
  },
  ...["id", "timeout", "retry", "tags", "gpu"].map((field) => ignoredField(`job.${field}`, [1])),
];

const timestamps: Bound = {
  rule: "a timestamp is a date and time in UTC that ends in Z, the fraction optional",
  at: "lastTriggerAt",
  accepted: [
    undefined,
    "2026-09-01T12:34:56Z",
    "2026-09-01T12:34:56.7Z",
    "2026-09-01T12:34:56.789012Z",
    "2024-02-29T23:59:59Z",
  ],
  refused: [
    null,
    "",
    0,
    "2026-09-01",
    "2026-09-01T12:34:56",
    "2026-09-01T12:34Z",
    "2026-09-01 12:34:56Z",
    "2026-09-01T12:34:56+00:00",
    "2026-09-01T12:34:56-00:00",
    "2026-09-01T14:34:56+02:00",
    "2026-09-01T12:34:56.Z",
    "2026-09-01T24:34:56Z",
    "2026-13-01T12:34:56Z",
    "2026-02-30T12:34:56Z",
    "Tue, 01 Sep 2026 12:34:56 GMT",
  ].map((value) => ({ value })),
};

/** The rules of the specification for a webhook in a response. */
export const webhookBounds: Bound[] = [
  {
    rule: "id is 24 lower-case hexadecimal digits, and required",
    at: "id",
    accepted: ["0123456789abcdef01234567", "0".repeat(24), "f".repeat(24)],
    refused: [
      undefined,
      null,
      "",
      "0".repeat(23),
      "0".repeat(25),
      "F".repeat(24),
      "g".repeat(24),
      `${"0".repeat(24)}\n`,
    ].map((value) => ({ value })),
  },
  {
    rule: "url is a URI",
    at: "url",
    accepted: [undefined, "https://example.com/hook", "http://localhost:7860/a?b#c"],
    refused: [{ value: null }, { value: "not a URI" }, { value: "/hook" }, { value: 1 }],
  },
  {
    rule: "jobSourceId is a string",
    at: "jobSourceId",
    accepted: [undefined, "job-1"],
    refused: [{ value: null }, { value: 1 }],
  },
  {
    rule: "disabled is a boolean or one string, and required",
    at: "disabled",
    accepted: [true, false, "suspended-after-failure"],
    refused: [undefined, null, "", "true", "suspended", 0, "Suspended-After-Failure"].map((value) => ({ value })),
  },
  {
    rule: "watched is an array, and required",
    at: "watched",
    accepted: [[], watchedTypes.map((type) => ({ type, name: "acme" }))],
    refused: [{ value: undefined }, { value: null }, { value: {} }],
  },
  {
    rule: "a watched type is one of seven, and required",
    at: "watched[0].type",
    accepted: watchedTypes,
    refused: [{ value: undefined }, { value: "repo" }],
  },
  {
    rule: "a watched name is required",
    at: "watched[0].name",
    accepted: ["x"],
    refused: [{ value: undefined }, { value: 1 }],
  },
  {
    rule: "a watched item can have a picture",
    at: "watched[0].avatarUrl",
    accepted: [undefined, "https://example.com/a.png", "/avatars/a.svg"],
    refused: [{ value: null }, { value: 1 }],
  },
  { rule: "secret is a string", at: "secret", accepted: [undefined, "x"], refused: [{ value: null }, { value: true }] },
  {
    rule: "domains is an array of two, and required",
    at: "domains",
    accepted: [[], ["repo"], ["discussion", "repo"]],
    refused: [
      { value: undefined },
      { value: null },
      { value: ["discussions"], names: "domains[0]" },
      { value: ["repo", "settings"], names: "domains[1]" },
    ],
  },
  timestamps,
  {
    rule: "hasSecret is a boolean, since 2026-08-17",
    at: "hasSecret",
    accepted: [undefined, true, false],
    refused: [{ value: null }, { value: "true" }],
  },
  { rule: "no other fields", at: "owner", accepted: [undefined], refused: [{ value: true }, { value: null }] },
  { rule: "no other fields", at: "watched[0].owner", accepted: [undefined], refused: [{ value: "acme" }] },
];

/** The rules of the specification for a webhook with a job in a response. */
export const jobWebhookBounds: Bound[] = [...webhookJobBounds, ...webhookJobResponseBounds];
