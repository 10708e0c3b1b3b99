import * as z from "zod/mini";
import { objectIdInEitherCase, repoRef, requestEnum, responseEnum, withJsonRule } from "../schemas.ts";

/*
 * This file defines the job in a request (with the values of secrets), and the job in a webhook that the Hub returns (with the names
 * of secrets). `schemas.ts` defines a started job.
 */

/** The hardware in the Hub's specification. */
const specifiedFlavors = [
  "cpu-basic",
  "cpu-upgrade",
  "cpu-performance",
  "cpu-xl",
  "sprx8",
  "zero-a10g",
  "t4-small",
  "t4-medium",
  "l4x1",
  "l4x4",
  "l40sx1",
  "l40sx4",
  "l40sx8",
  "a10g-small",
  "a10g-large",
  "a10g-largex2",
  "a10g-largex4",
  "a100-large",
  "a100x4",
  "a100x8",
  "h200",
  "h200x2",
  "h200x4",
  "h200x8",
  "inf2x6",
] as const;

/** The hardware that the Hub added after the specification. */
export const addedFlavors = ["rtx-pro-6000", "rtx-pro-6000x2", "rtx-pro-6000x4", "rtx-pro-6000x8"] as const;

/** The hardware that a job can request. */
export const hardwareFlavors = [...specifiedFlavors, ...addedFlavors] as const;

const flavor = requestEnum(hardwareFlavors);
/** The hardware of a job that the Hub returns. */
export const returnedFlavor = responseEnum(hardwareFlavors);
/** The processor architectures of a job. */
export const architectures = ["amd64", "arm64"] as const;
const command = z.array(z.string().check(z.minLength(1))).check(z.minLength(1));

/** Creates a schema that rejects objects with a field `__proto__`, which `z.record` would drop silently. */
function objectWithoutProto<Value>(expectedNames: string) {
  return z.custom<Record<string, Value>>(
    (map) => typeof map !== "object" || map === null || !Object.hasOwn(map, "__proto__"),
    { path: ["__proto__"], error: expectedNames },
  );
}

// The Hub requires at least one character after the first letter.
const expectedVariable = "expected at least two characters: a letter, then letters, digits, or _";
const variableName = z.string().check(z.regex(/^[a-zA-Z][_a-zA-Z0-9]+$/, expectedVariable));
const environment = z.pipe(objectWithoutProto<string>(expectedVariable), z.record(variableName, z.string()));

const expectedSecret = "expected a letter, then letters, digits, or _";
const secretName = z.string().check(z.regex(/^[a-zA-Z][_a-zA-Z0-9]*$/, expectedSecret));
const secrets = z.pipe(objectWithoutProto<string>(expectedSecret), z.record(secretName, z.string()));
/** Secrets to set, by name. The value `null` removes a secret. */
export const secretChanges = z.pipe(
  objectWithoutProto<string | null>(expectedSecret),
  z.record(secretName, z.nullable(z.string())),
);

const maxLabelLength = 100;
const expectedLabel = "expected 1 to 100 letters, digits, dots, _, or -";
const expectedLabelValue = "expected up to 100 letters, digits, dots, _, or -";
// The pattern also excludes "__proto__", so that the OpenAPI document of the local Hub contains this rule.
const labelName = z
  .string()
  .check(z.regex(/^(?!__proto__$)[a-zA-Z0-9._-]+$/, expectedLabel), z.maxLength(maxLabelLength, expectedLabel));
const labelValue = z
  .string()
  .check(z.regex(/^[a-zA-Z0-9._-]*$/, expectedLabelValue), z.maxLength(maxLabelLength, expectedLabelValue));
/** The labels of a job, by name. */
export const labels = z.pipe(objectWithoutProto<string>(expectedLabel), z.record(labelName, labelValue));

const timeoutSeconds = z.nullable(z.int().check(z.positive(), z.maximum(Number.MAX_SAFE_INTEGER)));

/** A bucket or a repository that is mounted into a job. */
const volume = withJsonRule(
  z
    .object({
      type: requestEnum(["bucket", "model", "dataset", "space"]),
      /** `<owner>/<name>` of the bucket or repository, or `<name>` of one of the oldest repositories, such as `gpt2`. */
      source: repoRef.shape.name,
      mountPath: z.string().check(z.regex(/^\/.*/, 'expected a path that starts with "/"')),
      /** The revision of a repository. Default `main`. Buckets have no revisions. */
      revision: z.optional(z.string()),
      /** By default, repositories are read-only and buckets are writable. */
      readOnly: z.optional(z.boolean()),
      /** A folder inside the bucket or repository. */
      path: z.optional(z.string()),
    })
    .check(
      z.refine(({ type, revision }) => type !== "bucket" || revision === undefined, {
        path: ["revision"],
        error: "a bucket has no revisions",
      }),
    ),
  { not: { properties: { type: { const: "bucket" } }, required: ["revision"] } },
);

const port = z.int().check(z.minimum(1), z.maximum(65_535));

/** The ports of a job that are reachable from outside. */
export const expose = z.object({
  ports: z.array(port).check(z.maxLength(20)),
  /** The ports that require no token. All other ports require a token with read access to the namespace of the job. */
  portsPublic: z.optional(z.array(port).check(z.maxLength(20))),
});

/** The job in a request to start a job, or to create or update a webhook. */
export const webhookJobRequest = z.object({
  flavor,
  spaceId: z.optional(z.string()),
  dockerImage: z.optional(z.string()),
  arguments: z.optional(z.array(z.string())),
  command: z.optional(command),
  environment: z._default(environment, {}),
  /** The values of secrets, by name. The Hub returns only the names. */
  secrets: z.optional(secrets),
  arch: z.optional(requestEnum(architectures)),
  timeoutSeconds: z._default(timeoutSeconds, null),
  /** The maximum number of attempts to run the job. With `3`, a failed job is retried twice. */
  attempts: z._default(z.int().check(z.minimum(1), z.maximum(Number.MAX_SAFE_INTEGER)), 1),
  labels: z.optional(labels),
  volumes: z.optional(z.array(volume).check(z.minLength(1))),
  expose: z.optional(expose),
  /** `enabled` gives the owner of the job SSH access to the container. */
  ssh: z.optional(z.object({ enabled: z._default(z.boolean(), false) })),
  /** The ID of the resource group to which the job belongs. */
  resourceGroupId: z.optional(objectIdInEitherCase),
});

/** Creates the schema of a name in a network. */
const networkName = (pattern: RegExp) =>
  z.string().check(z.regex(pattern, `expected lowercase letters, digits, or -: ${pattern.source}`));

/** The job in a request to start a job. */
export const jobRequest = z.object({
  ...webhookJobRequest.shape,
  /** The jobs of a namespace and a resource group with the same group are placed together, and reach each other on every port. */
  network: z.optional(
    z.object({
      /** Up to 46 characters. */
      group: networkName(/^[a-z0-9-]{1,46}$/),
      /** Different names of up to 34 characters, under which the jobs of the group reach this job. Several jobs can have the same alias. */
      aliases: z._default(z.array(networkName(/^[a-z0-9-]{1,34}$/)), []),
    }),
  ),
});

/** The job in a webhook that the Hub returns. */
export const webhookJob = withJsonRule(
  z.strictObject({
    dockerImage: z.optional(z.string()),
    spaceId: z.optional(z.string()),
    environment: z._default(environment, {}),
    arguments: z.optional(z.array(z.string())),
    command: z.optional(command),
    flavor: returnedFlavor,
    timeoutSeconds: z._default(timeoutSeconds, null),
    labels: z.optional(labels),
    /** The names of the secrets. */
    secrets: z.optional(z.array(z.string())),
  }),
  // The Hub always returns these fields, but the client also accepts jobs without them.
  { required: ["environment", "flavor", "timeoutSeconds"] },
);

/** The job in a request to start a job, or to create or update a webhook, with the values of its secrets. */
export type WebhookJobRequest = z.input<typeof webhookJobRequest>;
/**
 * The job in a webhook that the Hub returns, with the names of its secrets. The Hub does not return `arch`, `attempts`,
 * `volumes`, `expose`, `ssh`, or `resourceGroupId`.
 */
export type WebhookJob = z.output<typeof webhookJob>;
