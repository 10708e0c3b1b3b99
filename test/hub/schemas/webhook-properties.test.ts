import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { webhookRequest } from "../../../src/hub/webhooks/schemas.ts";
import type { JsonObject } from "./bounds.ts";
import { documentSchema } from "./document-schemas.ts";
import { addedFlavors, flavors } from "./job-bounds.ts";

/*
 * Bodies made from the grammar of the specification, not from the schemas. Each property holds for our schema and for the
 * document, read by a validator of others.
 */
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const digits = "0123456789";

interface TextOptions {
  of: string;
  minLength?: number;
  maxLength: number;
}

function text({ of, minLength = 0, maxLength }: TextOptions) {
  return fc.string({ unit: fc.constantFrom(...of), minLength, maxLength });
}

/** Generates a letter, then at least `more` letters, digits, or underscores. */
function variableName(more: number) {
  const rest = text({ of: `_${letters}${digits}`, minLength: more, maxLength: 12 });
  return fc.tuple(fc.constantFrom(...letters), rest).map((parts) => parts.join(""));
}

const labelCharacters = `${letters}${digits}._-`;
const labelKey = text({ of: labelCharacters, minLength: 1, maxLength: 100 }).filter((key) => key !== "__proto__");
const repository = fc.tuple(labelKey, labelKey).map(([owner, name]) => `${owner}/${name}`);
const flags = { noNullPrototype: true };

const volumeFields = { source: repository, mountPath: fc.string().map((path) => `/${path}`) };
const volumeOptions = { readOnly: fc.boolean(), path: fc.string() };
const required: ["type", "source", "mountPath"] = ["type", "source", "mountPath"];
const volume = fc.oneof(
  fc.record({ type: fc.constant("bucket"), ...volumeFields, ...volumeOptions }, { requiredKeys: required, ...flags }),
  fc.record(
    { type: fc.constantFrom("model", "dataset", "space"), ...volumeFields, ...volumeOptions, revision: fc.string() },
    { requiredKeys: required, ...flags },
  ),
);

const ports = fc.array(fc.integer({ min: 1, max: 65_535 }), { maxLength: 20 });

const job = fc.record(
  {
    flavor: fc.constantFrom(...flavors, ...addedFlavors),
    spaceId: fc.string(),
    dockerImage: fc.string(),
    arguments: fc.array(fc.string()),
    command: fc.array(fc.string({ minLength: 1 }), { minLength: 1 }),
    environment: fc.dictionary(variableName(1), fc.string(), flags),
    secrets: fc.dictionary(variableName(0), fc.string(), flags),
    arch: fc.constantFrom("amd64", "arm64"),
    timeoutSeconds: fc.option(fc.integer({ min: 1, max: 9007199254740991 })),
    attempts: fc.integer({ min: 1 }),
    labels: fc.dictionary(labelKey, text({ of: labelCharacters, maxLength: 100 }), flags),
    volumes: fc.array(volume, { minLength: 1, maxLength: 3 }),
    expose: fc.record({ ports, portsPublic: ports }, { requiredKeys: ["ports"], ...flags }),
    ssh: fc.record({ enabled: fc.boolean() }, flags),
    resourceGroupId: text({ of: "0123456789abcdefABCDEF", minLength: 24, maxLength: 24 }),
  },
  { requiredKeys: ["flavor"], ...flags },
);

const watched = fc.record(
  {
    type: fc.constantFrom("dataset", "model", "space", "bucket", "kernel", "user", "org"),
    name: fc.oneof(labelKey, repository),
  },
  flags,
);
const common = {
  watched: fc.array(watched, { minLength: 1, maxLength: 5 }),
  domains: fc.array(fc.constantFrom("repo", "discussion"), { minLength: 1, maxLength: 3 }),
  secret: fc.string({ unit: fc.integer({ min: 0x20, max: 0x7f }).map((code) => String.fromCharCode(code)) }),
};
const requiredKeys: ["watched", "domains"] = ["watched", "domains"];
const url = fc.webUrl({ withQueryParameters: true, withFragments: true });
const jobRequest = fc.record({ ...common, job }, { requiredKeys: [...requiredKeys, "job"], ...flags });
const request = fc.oneof(
  fc.record({ ...common, url }, { requiredKeys: [...requiredKeys, "url"], ...flags }),
  fc.record({ ...common, jobSourceId: labelKey }, { requiredKeys: [...requiredKeys, "jobSourceId"], ...flags }),
  jobRequest,
);

/** Names that a request does not have, and that resemble no field. */
const strangeField = text({ of: letters.toLowerCase(), minLength: 1, maxLength: 8 }).map((name) => `x-${name}`);
const beyondLabels = fc.string({ unit: fc.constantFrom(..." /:@é\n\0"), minLength: 1 });
const beyondPrintable = fc
  .oneof(fc.integer({ min: 0, max: 0x1f }), fc.integer({ min: 0x80, max: 0xffff }))
  .map((code) => String.fromCharCode(code));

const spoiltRequest = fc.oneof(
  fc.tuple(request, fc.constantFrom("watched", "domains")).map(([body, field]) => ({ ...body, [field]: [] })),
  fc
    .tuple(request, fc.constantFrom("watched", "domains", "url", "job", "jobSourceId", "secret"))
    .map(([body, field]) => ({ ...body, [field]: null })),
  fc.tuple(request, common.secret, beyondPrintable).map(([body, start, end]) => ({ ...body, secret: start + end })),
  fc.tuple(jobRequest, url).map(([body, target]) => ({ ...body, url: target })),
  fc.tuple(jobRequest, labelKey).map(([body, target]) => ({ ...body, jobSourceId: target })),
  jobRequest.map(({ job: _, ...body }) => body),
);

const spoiltJob = fc.oneof(
  fc.constantFrom(...letters).map((name) => ({ environment: { [name]: "x" } })),
  fc.tuple(variableName(1), beyondLabels).map(([name, end]) => ({ environment: { [name + end]: "x" } })),
  fc.tuple(variableName(0), beyondLabels).map(([name, end]) => ({ secrets: { [name + end]: "x" } })),
  fc.tuple(labelKey, beyondLabels).map(([name, end]) => ({ labels: { [name + end]: "x" } })),
  fc.tuple(labelKey, beyondLabels).map(([name, end]) => ({ labels: { [name]: end } })),
  text({ of: labelCharacters, minLength: 101, maxLength: 150 }).map((name) => ({ labels: { [name]: "x" } })),
  text({ of: labelCharacters, minLength: 101, maxLength: 150 }).map((value) => ({ labels: { a: value } })),
  fc.integer({ max: 0 }).map((timeoutSeconds) => ({ timeoutSeconds })),
  fc.integer({ max: 0 }).map((attempts) => ({ attempts })),
  fc.double({ noInteger: true, noNaN: true, noDefaultInfinity: true }).map((attempts) => ({ attempts })),
  fc.constantFrom({ command: [] }, { command: [""] }, { volumes: [] }, { arch: "x86" }, { expose: {} }, { ssh: true }),
  volume.map((given) => ({ volumes: [{ ...given, type: "kernel" }] })),
  volume.map((given) => ({ volumes: [{ ...given, mountPath: given.mountPath.replace(/^\/+/, "") }] })),
  volume.map((given) => ({ volumes: [{ ...given, type: "bucket", revision: "main" }] })),
);

const validByDocument = documentSchema("/components/schemas/WebhookRequest");

/** Returns the results of our schema and of the document's schema. */
function verdicts(body: JsonObject): boolean[] {
  return [webhookRequest.safeParse(body).success, validByDocument(body)];
}

describe("Every generated body", () => {
  test("is accepted, and parsed unchanged except for defaults", () => {
    fc.assert(
      fc.property(request, (body) => {
        expect(verdicts(body)).toEqual([true, true]);
        expect(webhookRequest.parse(body)).toMatchObject(body);
      }),
    );
  });

  test("is accepted with an unknown field, which is dropped", () => {
    fc.assert(
      fc.property(request, strangeField, fc.jsonValue(), (body, field, value) => {
        expect(verdicts({ ...body, [field]: value })).toEqual([true, true]);
        expect(webhookRequest.parse({ ...body, [field]: value })).toEqual(webhookRequest.parse(body));
      }),
    );
  });

  test("is rejected with one invalid part", () => {
    fc.assert(
      fc.property(spoiltRequest, (body) => {
        expect(verdicts(body)).toEqual([false, false]);
      }),
    );
  });

  test("is rejected with one invalid part in its job", () => {
    fc.assert(
      fc.property(jobRequest, spoiltJob, (body, spoilt) => {
        expect(verdicts({ ...body, job: { ...body.job, ...spoilt } })).toEqual([false, false]);
      }),
      { numRuns: 300 },
    );
  });
});
