import {
  anyOf,
  boolean,
  constant,
  given,
  list,
  map,
  number,
  objectId,
  objectIdInEitherCase,
  oneOf,
  type Schema,
  string,
  taken,
  timestamp,
  uri,
} from "./json-schema.ts";

/* Webhooks, written by hand from the document that the Hub published on 2026-08-17, and from nothing of `src`. */

const flavor = oneOf(
  ..."cpu-basic cpu-upgrade cpu-performance cpu-xl sprx8 zero-a10g t4-small t4-medium l4x1 l4x4 l40sx1 l40sx4 l40sx8".split(
    " ",
  ),
  ..."a10g-small a10g-large a10g-largex2 a10g-largex4 a100-large a100x4 a100x8 h200 h200x2 h200x4 h200x8".split(" "),
  ..."rtx-pro-6000 rtx-pro-6000x2 rtx-pro-6000x4 rtx-pro-6000x8 inf2x6".split(" "),
);
const watchedType = oneOf("dataset", "model", "space", "bucket", "kernel", "user", "org");
const domain = oneOf("repo", "discussion");
const environment: Schema = { ...map("^[a-zA-Z][_a-zA-Z0-9]+$"), default: {} };
const timeoutSeconds: Schema = {
  default: null,
  anyOf: [{ type: "integer", exclusiveMinimum: 0, maximum: 9007199254740991 }, { type: "null" }],
};
const label: Schema = { type: "string", maxLength: 100, pattern: "^[a-zA-Z0-9._-]*$" };
const labels = map("^[a-zA-Z0-9._-]+$", { value: label, maxLength: 100 });
const command = list({ type: "string", minLength: 1 }, { minItems: 1 });
const ports = list({ type: "integer", minimum: 1, maximum: 65535 }, { maxItems: 20 });

const job = taken({
  "spaceId?": string,
  "dockerImage?": string,
  "arguments?": list(string),
  "command?": command,
  "environment?": environment,
  "secrets?": map("^[a-zA-Z][_a-zA-Z0-9]*$"),
  flavor,
  "arch?": oneOf("amd64", "arm64"),
  "timeoutSeconds?": timeoutSeconds,
  "attempts?": { default: 1, type: "integer", minimum: 1, maximum: 9007199254740991 },
  "labels?": labels,
  "volumes?": list(
    taken({
      type: oneOf("bucket", "model", "dataset", "space"),
      source: string,
      mountPath: { type: "string", pattern: "^\\/.*" },
      "revision?": string,
      "readOnly?": boolean,
      "path?": string,
    }),
    { minItems: 1 },
  ),
  "expose?": taken({ ports, "portsPublic?": ports }),
  "ssh?": taken({ "enabled?": { default: false, type: "boolean" } }),
  "resourceGroupId?": objectIdInEitherCase,
});

/** What create and update take. */
export const webhookRequest = taken({
  watched: list(taken({ type: watchedType, name: string }), { minItems: 1 }),
  "url?": uri,
  "job?": job,
  "jobSourceId?": string,
  domains: list(domain, { minItems: 1 }),
  "secret?": { type: "string", pattern: "^[\\x20-\\x7F]*$" },
});

/** A webhook as it is answered. */
export const webhook = given({
  id: objectId,
  "url?": uri,
  "job?": given({
    "dockerImage?": string,
    "spaceId?": string,
    environment,
    "arguments?": list(string),
    "command?": command,
    flavor,
    timeoutSeconds,
    "labels?": labels,
    "secrets?": list(string),
  }),
  "jobSourceId?": string,
  disabled: anyOf(boolean, constant("suspended-after-failure")),
  watched: list(given({ name: string, type: watchedType, "avatarUrl?": string })),
  hasSecret: boolean,
  domains: list(domain),
  "lastTriggerAt?": timestamp,
});

/** One webhook as it is answered. */
export const oneWebhook = given({ webhook });

/** What a replay is answered with. */
export const replayed = given({ status: number });
