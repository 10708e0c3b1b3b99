import * as z from "zod";
import type { CallOptions, Operations } from "./operation.ts";
import { objectIdInEitherCase, openEnum, requestEnum, timestamp } from "./schemas.ts";
import type { Transport } from "./transport.ts";

/*
 * A job has three shapes that look alike and are not: what a webhook is given (secret values go in, once), what a
 * webhook answers with (secrets by name), and the record of a job that ran.
 */

/** The hardware that a job can request, as hub-api.md lists it. */
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

/** The hardware that the Hub has added since hub-api.md was written: `hub-changes.ts` has the date. */
export const addedFlavors = ["rtx-pro-6000", "rtx-pro-6000x2", "rtx-pro-6000x4", "rtx-pro-6000x8"] as const;

/** The hardware that a job can request. */
export const hardwareFlavors = [...specifiedFlavors, ...addedFlavors] as const;

/** The stages of a job. */
export const jobStages = ["COMPLETED", "CANCELED", "ERROR", "DELETED", "RUNNING", "SCHEDULING"] as const;

const flavor = requestEnum(hardwareFlavors);
const answeredFlavor = openEnum(hardwareFlavors);
const architectures = ["amd64", "arm64"] as const;
const command = z.array(z.string().min(1)).min(1);

interface StringMapOptions {
  names: RegExp;
  expectedNames: string;
  values?: { pattern: RegExp; expected: string };
  /** Bounds of names and values alike. */
  maxLength?: number;
}

/** A map of strings. Its schema in the document is written by hand, since the generator leaves the names out. */
function stringMap({ names, expectedNames, values, maxLength }: StringMapOptions) {
  const bound = maxLength === undefined ? {} : { maxLength };
  const documented = {
    type: "object" as const,
    propertyNames: { pattern: names.source, ...bound, ...(names.test("__proto__") && { not: { const: "__proto__" } }) },
    additionalProperties: { type: "string" as const, ...(values && { pattern: values.pattern.source }), ...bound },
  };
  const name = z.string().regex(names, expectedNames);
  const value = values ? z.string().regex(values.pattern, values.expected) : z.string();
  const map =
    maxLength === undefined
      ? z.record(name, value)
      : z.record(name.max(maxLength, expectedNames), value.max(maxLength, values?.expected));
  return z
    .custom<Record<string, string>>(lacksPrototype, { path: ["__proto__"], error: expectedNames })
    .pipe(map)
    .meta(documented);
}

/** A record skips this one name without a word: no JavaScript program could carry it safely. */
function lacksPrototype(map: unknown): boolean {
  return typeof map !== "object" || map === null || !Object.hasOwn(map, "__proto__");
}

const environment = stringMap({
  // Two characters or more: the Hub asks for one after the first letter.
  names: /^[a-zA-Z][_a-zA-Z0-9]+$/,
  expectedNames: "expected a letter, then letters, digits or _, two characters or more",
});

const secrets = stringMap({
  names: /^[a-zA-Z][_a-zA-Z0-9]*$/,
  expectedNames: "expected a letter, then letters, digits or _",
});

const labels = stringMap({
  names: /^[a-zA-Z0-9._-]+$/,
  expectedNames: "expected 1 to 100 letters, digits, dots, _ or -",
  values: { pattern: /^[a-zA-Z0-9._-]*$/, expected: "expected up to 100 letters, digits, dots, _ or -" },
  maxLength: 100,
});

const timeoutSeconds = z.int().positive().max(Number.MAX_SAFE_INTEGER).nullable();

const volume = z
  .object({
    type: requestEnum(["bucket", "model", "dataset", "space"]),
    /** `<owner>/<name>` of the bucket or repository. */
    source: z.string().regex(/^[^/]+\/[^/]+$/, 'expected "owner/name"'),
    mountPath: z.string().regex(/^\/.*/, 'expected a path that begins with "/"'),
    /** Of a repository; `main` when left out. A bucket has none. */
    revision: z.string().optional(),
    /** Left out: a repository is read-only, a bucket is writable. */
    readOnly: z.boolean().optional(),
    /** A folder inside the bucket or repository. */
    path: z.string().optional(),
  })
  .refine(({ type, revision }) => type !== "bucket" || revision === undefined, {
    path: ["revision"],
    error: "a bucket has no revisions",
  })
  .meta({ not: { properties: { type: { const: "bucket" } }, required: ["revision"] } });

const port = z.int().min(1).max(65_535);

/** Ports of a job that are reachable from outside. */
const expose = z.object({
  ports: z.array(port).max(20),
  /** Those of `ports` that need no token. The others need one that may read the namespace of the job. */
  portsPublic: z.array(port).max(20).optional(),
});

/** The job of a webhook, as create and update accept it. */
export const webhookJobRequest = z.object({
  flavor,
  spaceId: z.string().optional(),
  dockerImage: z.string().optional(),
  arguments: z.array(z.string()).optional(),
  command: command.optional(),
  environment: environment.default({}).meta({ default: {} }),
  /** Values go in and never come back: a webhook answers with their names. */
  secrets: secrets.optional(),
  arch: requestEnum(architectures).optional(),
  timeoutSeconds: timeoutSeconds.default(null),
  /** How often the job is started at most: 3 allows two retries. */
  attempts: z.int().min(1).max(Number.MAX_SAFE_INTEGER).default(1),
  labels: labels.optional(),
  volumes: z.array(volume).min(1).optional(),
  expose: expose.optional(),
  /** `enabled` makes the container reachable by SSH, for the owner of the job alone. */
  ssh: z.object({ enabled: z.boolean().default(false) }).optional(),
  /** The resource group that the job belongs to. */
  resourceGroupId: objectIdInEitherCase.optional(),
});

/** The job of a webhook, as a webhook answers with it. */
export const webhookJob = z
  .strictObject({
    dockerImage: z.string().optional(),
    spaceId: z.string().optional(),
    environment: environment.default({}).meta({ default: {} }),
    arguments: z.array(z.string()).optional(),
    command: command.optional(),
    flavor: answeredFlavor,
    timeoutSeconds: timeoutSeconds.default(null),
    labels: labels.optional(),
    /** Names only. */
    secrets: z.array(z.string()).optional(),
  })
  // Always there in an answer, where a default would make them optional.
  .meta({ required: ["environment", "flavor", "timeoutSeconds"] });

const account = z.strictObject({ id: z.string(), name: z.string() });

/** A job that was started, or is to be. */
export const job = z.strictObject({
  id: z.string(),
  createdAt: timestamp,
  owner: account,
  spaceId: z.string().optional(),
  dockerImage: z.string().optional(),
  /** In seconds. */
  timeout: z.number().optional(),
  environment: z.record(z.string(), z.string()),
  /** Each name with `null`: values are hidden. */
  secrets: z.record(z.string(), z.null()).optional(),
  command: z.array(z.string()).optional(),
  arguments: z.array(z.string()).optional(),
  arch: openEnum(architectures).optional(),
  flavor: answeredFlavor,
  status: z.strictObject({
    stage: z.enum(jobStages),
    message: z.string().nullable(),
    /** `NO_CREDITS`, `NO_SUBSCRIPTION` or another text. */
    cancelReason: z.string().optional(),
    failureCount: z.number().optional(),
  }),
  createdBy: account,
  tags: z.array(z.string()).optional(),
  retry: z.number().optional(),
  volumes: z
    .array(
      z.strictObject({
        type: z.string(),
        source: z.string(),
        mountPath: z.string(),
        revision: z.string().optional(),
        readOnly: z.boolean().optional(),
        path: z.string().optional(),
      }),
    )
    .optional(),
  expose: z.strictObject(expose.shape).optional(),
  resourceGroupId: z.string().optional(),
});

/** Hardware that a job can request, with its price. */
export const jobHardware = z.strictObject({
  /** The flavor. */
  name: z.string(),
  prettyName: z.string(),
  cpu: z.string(),
  ram: z.string(),
  ephemeralStorage: z.string(),
  accelerator: z
    .strictObject({
      type: openEnum(["gpu", "neuron"]),
      model: z.string(),
      quantity: z.string(),
      vram: z.string(),
      manufacturer: openEnum(["Nvidia", "AWS"]),
    })
    .nullable(),
  unitCostMicroUSD: z.number(),
  unitCostUSD: z.number(),
  /** What the cost is for, such as `minute`. */
  unitLabel: z.string(),
});

/** The operation on jobs. The specification lists none; the Hub publishes it since 2026-08-17 at the latest. */
export const jobOperations = {
  hardware: {
    method: "get",
    path: "/api/jobs/hardware",
    operationId: "listJobHardware",
    summary: "List the hardware for jobs",
    response: z.array(jobHardware),
  },
} as const satisfies Operations;

/** Hardware that a job can request, with its price. */
export type JobHardware = z.output<typeof jobHardware>;
/** The job of a webhook, as it is given: secrets by name and value. */
export type WebhookJobRequest = z.input<typeof webhookJobRequest>;
/** The job of a webhook, as it is answered: secrets by name; the Hub does not return `arch`, `attempts`, `volumes`, `expose`, `ssh` and `resourceGroupId`. */
export type WebhookJob = z.output<typeof webhookJob>;
/** A job that was started, or is to be. */
export type Job = z.output<typeof job>;
/** Where a job is on its way. */
export type JobStage = (typeof jobStages)[number];

/** Jobs on the Hub's infrastructure: `hub.jobs`. */
export class HubJobs {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Lists the hardware that a job can request. Each `name` is a `flavor`.
   *
   * @example
   * ```ts
   * for (const { name, unitCostUSD, unitLabel } of await hub.jobs.hardware()) console.log(name, unitCostUSD, unitLabel);
   * ```
   */
  hardware(options?: CallOptions): Promise<JobHardware[]> {
    return this.#transport.call(jobOperations.hardware, {}, options);
  }
}
