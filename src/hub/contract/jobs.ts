import { z } from "@hono/zod-openapi";
import { timestamp } from "./values.ts";

/*
 * A job has three shapes that look alike and are not: what a webhook is given (secret values go in, once), what a
 * webhook answers with (secrets by name), and the record of a job that ran.
 */

/** The hardware that a job can ask for. */
export const hardwareFlavors = [
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

/** The stages of a job. */
export const jobStages = ["COMPLETED", "CANCELED", "ERROR", "DELETED", "RUNNING", "SCHEDULING"] as const;

const flavor = z.enum(hardwareFlavors);
const architecture = z.enum(["amd64", "arm64"]);
const command = z.array(z.string().min(1)).min(1);

/** A map of texts. The document is told of it by hand, since the generator leaves the names out. */
function mapOf({ names, expectedNames, values, expectedValues }: MapOptions) {
  const documented = {
    type: "object" as const,
    propertyNames: { pattern: names.source },
    additionalProperties: { type: "string" as const, ...(values && { pattern: values.source }) },
  };
  const value = values ? z.string().regex(values, expectedValues) : z.string();
  return z
    .custom<Record<string, string>>(lacksPrototype, { path: ["__proto__"], error: expectedNames })
    .pipe(z.record(z.string().regex(names, expectedNames), value))
    .openapi(documented);
}

/** A record passes over this one name in silence, where it is to be refused. */
function lacksPrototype(map: unknown): boolean {
  return typeof map !== "object" || map === null || !Object.hasOwn(map, "__proto__");
}

interface MapOptions {
  names: RegExp;
  expectedNames: string;
  values?: RegExp;
  expectedValues?: string;
}

const environment = mapOf({
  // Two characters or more: the Hub asks for one after the first letter.
  names: /^[a-zA-Z][_a-zA-Z0-9]+$/,
  expectedNames: "expected a letter, then letters, digits or _, two characters or more",
});

const secrets = mapOf({
  names: /^[a-zA-Z][_a-zA-Z0-9]*$/,
  expectedNames: "expected a letter, then letters, digits or _",
});

const labels = mapOf({
  names: /^(?!__proto__$)[a-zA-Z0-9._-]{1,100}$/,
  expectedNames: "expected 1 to 100 letters, digits, dots, _ or -",
  values: /^[a-zA-Z0-9._-]{0,100}$/,
  expectedValues: "expected up to 100 letters, digits, dots, _ or -",
});

const timeoutSeconds = z.int().positive().max(Number.MAX_SAFE_INTEGER).nullable();

const volume = z
  .strictObject({
    type: z.enum(["bucket", "model", "dataset", "space"]),
    /** `<owner>/<name>` of the bucket or repository. */
    source: z.string().regex(/^[^/]+\/[^/]+$/, 'expected "owner/name"'),
    mountPath: z.string().regex(/^\//, 'expected a path that begins with "/"'),
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
  .openapi({ not: { properties: { type: { const: "bucket" } }, required: ["revision"] } });

/** The job of a webhook, as create and update take it. */
export const webhookJobRequest = z
  .strictObject({
    flavor,
    spaceId: z.string().optional(),
    dockerImage: z.string().optional(),
    arguments: z.array(z.string()).optional(),
    command: command.optional(),
    environment: environment.default({}).openapi({ default: {} }),
    /** Values go in and never come back: a webhook answers with their names. */
    secrets: secrets.optional(),
    arch: architecture.optional(),
    timeoutSeconds: timeoutSeconds.default(null),
    /** How often the job is started at most: 3 allows two retries. */
    attempts: z.int().min(1).max(Number.MAX_SAFE_INTEGER).default(1),
    labels: labels.optional(),
    volumes: z.array(volume).min(1).optional(),
  })
  .openapi("WebhookJobRequest");

/** The job of a webhook, as a webhook answers with it. */
export const webhookJob = z
  .strictObject({
    dockerImage: z.string().optional(),
    spaceId: z.string().optional(),
    environment: environment.default({}).openapi({ default: {} }),
    arguments: z.array(z.string()).optional(),
    command: command.optional(),
    flavor,
    timeoutSeconds: timeoutSeconds.default(null),
    labels: labels.optional(),
    /** Names only. */
    secrets: z.array(z.string()).optional(),
  })
  // Always there in an answer, where a default would make them optional.
  .openapi("WebhookJob", { required: ["environment", "flavor", "timeoutSeconds"] });

const account = z.strictObject({ id: z.string(), name: z.string() });

/** A job that was started, or is to be. */
export const job = z
  .strictObject({
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
    arch: architecture.optional(),
    flavor,
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
  })
  .openapi("Job");

/** The job of a webhook, as it is given: secrets by name and value. */
export type WebhookJobRequest = z.input<typeof webhookJobRequest>;
/** The job of a webhook, as it is answered: secrets by name; what was given as `arch`, `attempts` and `volumes` is not told. */
export type WebhookJob = z.output<typeof webhookJob>;
/** A job that was started, or is to be. */
export type Job = z.output<typeof job>;
/** Where a job is on its way. */
export type JobStage = (typeof jobStages)[number];
