import * as z from "zod/mini";
import { jsonBody, type Operations } from "../operation.ts";
import {
  objectId,
  optionalWholeNumber,
  responseEnum,
  type SearchOf,
  timestamp,
  undocumentedBody,
  withJsonRule,
} from "../schemas.ts";
import { architectures, expose, jobRequest, labels, returnedFlavor } from "./definition.ts";

/** The stages of a job. */
export const jobStages = ["COMPLETED", "CANCELED", "ERROR", "DELETED", "RUNNING", "SCHEDULING"] as const;

const account = { id: objectId, name: z.string(), avatarUrl: z.string() };

/** A job that is scheduled, running, or finished. */
export const job = withJsonRule(
  z.strictObject({
    type: z.optional(z.literal("job")),
    id: z.string(),
    createdAt: timestamp,
    startedAt: z.optional(timestamp),
    finishedAt: z.optional(timestamp),
    /** Whole seconds. The values change while the job is scheduled or running. */
    durations: z.optional(
      z.strictObject({
        schedulingSecs: z.optional(z.number()),
        runningSecs: z.optional(z.number()),
        totalSecs: z.optional(z.number()),
      }),
    ),
    owner: withJsonRule(
      z.strictObject({
        ...account,
        type: z.optional(responseEnum(["user", "org"])),
        avatarUrl: z.optional(z.string()),
      }),
      { required: ["id", "name", "type", "avatarUrl"] },
    ),
    createdBy: z.strictObject({ id: z.string(), name: z.string() }),
    /** The user, organization, scheduled job, job, or webhook that started the job. */
    initiator: z.optional(
      z.discriminatedUnion("type", [
        z.strictObject({ ...account, type: z.enum(["user", "org"]) }),
        z.strictObject({ id: z.string(), type: z.literal("scheduled-job") }),
        z.strictObject({ id: z.string(), type: z.literal("duplicated-job") }),
        z.strictObject({ id: z.string(), type: z.literal("webhook") }),
      ]),
    ),
    spaceId: z.optional(z.string()),
    dockerImage: z.optional(z.string()),
    command: z.optional(z.array(z.string())),
    arguments: z.optional(z.array(z.string())),
    environment: z.record(z.string(), z.string()),
    /** The names of the secrets. */
    secrets: z.optional(z.array(z.string())),
    flavor: returnedFlavor,
    arch: z.optional(responseEnum(architectures)),
    /** The timeout in seconds. */
    timeout: z.optional(z.number()),
    /** The maximum number of retries after the first attempt. */
    retry: z.optional(z.number()),
    labels: z.optional(z.record(z.string(), z.string())),
    volumes: z.optional(
      z.array(
        z.strictObject({
          type: z.string(),
          source: z.string(),
          mountPath: z.string(),
          revision: z.optional(z.string()),
          readOnly: z.optional(z.boolean()),
          path: z.optional(z.string()),
        }),
      ),
    ),
    expose: z.optional(z.strictObject(expose.shape)),
    /** The group of jobs that the job reaches, and the names under which the group reaches it. */
    network: z.optional(z.strictObject({ group: z.string(), aliases: z.optional(z.array(z.string())) })),
    resourceGroupId: z.optional(z.string()),
    resourceGroup: z.optional(z.strictObject({ id: objectId, name: z.string(), numUsers: z.optional(z.number()) })),
    status: z.strictObject({
      stage: z.enum(jobStages),
      message: z.nullable(z.string()),
      /** The reason for the cancellation, such as `NO_CREDITS` or `NO_SUBSCRIPTION`. */
      cancelReason: z.optional(z.string()),
      failureCount: z.optional(z.number()),
      /** The URL of each port in `expose.ports`. */
      exposeUrls: z.optional(z.array(z.string())),
      sshUrl: z.optional(z.string()),
    }),
    /** The token that the job uses. */
    hfToken: z.optional(
      z.strictObject({
        ownerName: z.string(),
        orgName: z.optional(z.string()),
        tokenRole: z.optional(responseEnum(["read", "write", "fineGrained"])),
        tokenId: z.optional(objectId),
        settingsUrl: z.optional(z.string()),
      }),
    ),
  }),
  // The Hub always returns these fields, but the client also accepts jobs without `type`, as in the specification.
  { required: ["id", "createdAt", "environment", "flavor", "createdBy", "type", "owner", "status"] },
);

/** Hardware that a job can request, with its price. */
export const jobHardware = z.strictObject({
  /** The flavor. */
  name: z.string(),
  prettyName: z.string(),
  cpu: z.string(),
  ram: z.string(),
  ephemeralStorage: z.string(),
  accelerator: z.nullable(
    z.strictObject({
      type: responseEnum(["gpu", "neuron"]),
      model: z.string(),
      quantity: z.string(),
      vram: z.string(),
      manufacturer: responseEnum(["Nvidia", "AWS"]),
    }),
  ),
  unitCostMicroUSD: z.number(),
  unitCostUSD: z.number(),
  /** The unit of the price, such as `minute`. */
  unitLabel: z.string(),
});

/** A line of the output of a job. */
export const jobLogEvent = z.object({ timestamp: z.string(), data: z.string() });

const namespace = z.object({ namespace: z.string() });
const jobParams = z.object({ namespace: z.string(), jobId: z.string() });

const stage = z.enum(jobStages);
const stageFilter = z.optional(z.union([stage, z.array(stage)]));
const label = z.string().check(z.regex(/^[a-zA-Z0-9._-]+=[a-zA-Z0-9._-]*$/, 'expected "name=value"'));

const search = z.object({
  /** Selects jobs in one of these stages. */
  stage: stageFilter,
  /** Selects jobs with all these labels, each as `name=value`. */
  label: z.optional(z.union([label, z.array(label)])),
  cursor: z.optional(z.string().check(z.maxLength(2048))),
});

/** The new labels of a job, which replace all labels. */
export const jobLabels = z.object({ labels });

/** The job operations, which the Hub published after the specification and before 2026-08-17. */
export const jobOperations = {
  hardware: {
    requestLine: "GET /api/jobs/hardware",
    operationId: "listJobHardware",
    summary: "List the hardware for jobs",
    response: z.array(jobHardware),
  },
  run: {
    requestLine: "POST /api/jobs/{namespace}",
    operationId: "startJob",
    summary: "Start a job",
    request: { params: namespace, body: jsonBody(jobRequest) },
    response: job,
  },
  list: {
    requestLine: "GET /api/jobs/{namespace}",
    operationId: "listJobs",
    summary: "List jobs",
    request: { params: namespace, query: search },
    response: z.array(job),
  },
  count: {
    requestLine: "GET /api/jobs/{namespace}/count",
    operationId: "countJobs",
    summary: "Count jobs",
    request: { params: namespace, query: z.object({ stage: stageFilter }) },
    response: z.strictObject({ count: z.number() }),
  },
  get: {
    requestLine: "GET /api/jobs/{namespace}/{jobId}",
    operationId: "getJob",
    summary: "Get a job",
    request: { params: jobParams },
    response: job,
  },
  logs: {
    requestLine: "GET /api/jobs/{namespace}/{jobId}/logs",
    operationId: "streamJobLogs",
    summary: "Stream the logs of a job",
    request: {
      params: jobParams,
      query: z.object({
        tail: optionalWholeNumber({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      }),
    },
    response: undocumentedBody,
  },
  events: {
    requestLine: "GET /api/jobs/{namespace}/{jobId}/events",
    operationId: "streamJobEvents",
    summary: "Stream the events of a job",
    request: { params: jobParams },
    response: undocumentedBody,
  },
  cancel: {
    requestLine: "POST /api/jobs/{namespace}/{jobId}/cancel",
    operationId: "cancelJob",
    summary: "Cancel a job",
    request: { params: jobParams },
    response: job,
  },
  setLabels: {
    requestLine: "PUT /api/jobs/{namespace}/{jobId}/labels",
    operationId: "setJobLabels",
    summary: "Replace the labels of a job",
    request: { params: jobParams, body: jsonBody(jobLabels) },
    response: job,
  },
} as const satisfies Operations;

/** Hardware that a job can request, with its price. */
export type JobHardware = z.output<typeof jobHardware>;
/** A job that is scheduled, running, or finished. */
export type Job = z.output<typeof job>;
/** The stage of a job. */
export type JobStage = (typeof jobStages)[number];
/** The query of a list of jobs. */
export type JobQuery = SearchOf<typeof search>;
