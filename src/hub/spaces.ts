import * as z from "zod/mini";
import { jobHardware } from "./jobs/schemas.ts";
import { jsonBody, type Operations } from "./operation.ts";
import { repositoryPath } from "./repositories/repository-path.ts";
import { clientFlag, optionalWholeNumber, responseEnum, timestamp, undocumentedBody } from "./schemas.ts";

/** The stages of a Space. `RUNNING_…`: an earlier version still runs. */
const spaceStages = [
  "NO_APP_FILE",
  "CONFIG_ERROR",
  "BUILDING",
  "BUILD_ERROR",
  "APP_STARTING",
  "RUNNING",
  "RUNNING_BUILDING",
  "RUNNING_APP_STARTING",
  "RUNTIME_ERROR",
  "SLEEPING",
  "STOPPED",
  "PAUSED",
  "DELETING",
] as const;

/** The seconds without a request after which a Space on free hardware sleeps. */
export const freeSleepSeconds = 172_800;

const hardwareName = z.nullable(z.string());

/** What a Space runs on, and whether it runs. */
export const spaceRuntime = z.object({
  stage: responseEnum(spaceStages),
  /** Why the Space does not run. */
  errorMessage: z.optional(z.string()),
  hardware: z.object({ current: hardwareName, requested: hardwareName }),
  storage: z.nullable(z.string()),
  /** The seconds without a request after which the Space sleeps. `null` or `-1`: never. */
  gcTimeout: z.nullable(z.number()),
  replicas: z.object({ current: z.number(), requested: z.union([z.number(), z.string()]) }),
  devMode: z.boolean(),
  domains: z.array(z.object({ domain: z.string(), stage: z.string() })),
  /** The commit that runs. */
  sha: z.optional(z.string()),
});

/** What a Space runs on, and whether it runs. */
export type SpaceRuntime = z.output<typeof spaceRuntime>;

/** The name of an environment variable. */
const key = z
  .string()
  .check(z.regex(/^[a-zA-Z][_a-zA-Z0-9]*$/, "expected a letter, and then letters, digits, and underscores"));
const description = z.optional(z.string());
/** A variable or a secret of a Space. */
export const spaceVariable = z.object({ key, value: z.string(), description });
const named = z.object({ key });

const secrets = z.record(z.string(), z.object({ description, updatedAt: z.optional(timestamp) }));
const variables = z.record(z.string(), z.object({ value: z.string(), description, updatedAt: z.optional(timestamp) }));

const { namespace, repo } = repositoryPath.shape;
const params = z.object({ namespace, repo });
const logParams = z.object({ namespace, repo, logType: z.enum(["build", "run"]) });
const base = "/api/spaces/{namespace}/{repo}";

/** The operations on a running Space. The Hub publishes only the streams. The others are as in `huggingface_hub`. */
export const spaceOperations = {
  hardware: {
    requestLine: "GET /api/spaces/hardware",
    operationId: "listSpaceHardware",
    summary: "List the hardware for Spaces",
    response: z.array(jobHardware),
  },
  runtime: {
    requestLine: `GET ${base}/runtime`,
    operationId: "getSpaceRuntime",
    summary: "Get the runtime of a Space",
    request: { params },
    response: spaceRuntime,
  },
  listSecrets: {
    requestLine: `GET ${base}/secrets`,
    operationId: "listSpaceSecrets",
    summary: "List the names of the secrets of a Space",
    request: { params },
    response: secrets,
  },
  setSecret: {
    requestLine: `POST ${base}/secrets`,
    operationId: "setSpaceSecret",
    summary: "Set a secret of a Space",
    request: { params, body: jsonBody(spaceVariable) },
    response: undocumentedBody,
  },
  deleteSecret: {
    requestLine: `DELETE ${base}/secrets`,
    operationId: "deleteSpaceSecret",
    summary: "Delete a secret of a Space",
    request: { params, body: jsonBody(named) },
    response: undocumentedBody,
  },
  listVariables: {
    requestLine: `GET ${base}/variables`,
    operationId: "listSpaceVariables",
    summary: "List the variables of a Space",
    request: { params },
    response: variables,
  },
  setVariable: {
    requestLine: `POST ${base}/variables`,
    operationId: "setSpaceVariable",
    summary: "Set a variable of a Space",
    request: { params, body: jsonBody(spaceVariable) },
    response: variables,
  },
  deleteVariable: {
    requestLine: `DELETE ${base}/variables`,
    operationId: "deleteSpaceVariable",
    summary: "Delete a variable of a Space",
    request: { params, body: jsonBody(named) },
    response: variables,
  },
  requestHardware: {
    requestLine: `POST ${base}/hardware`,
    operationId: "requestSpaceHardware",
    summary: "Request hardware for a Space",
    request: {
      params,
      body: jsonBody(z.object({ flavor: z.string(), sleepTimeSeconds: z.optional(z.nullable(z.number())) })),
    },
    response: spaceRuntime,
  },
  setSleepTime: {
    requestLine: `POST ${base}/sleeptime`,
    operationId: "setSpaceSleepTime",
    summary: "Set the sleep time of a Space",
    request: { params, body: jsonBody(z.object({ seconds: z.number() })) },
    response: spaceRuntime,
  },
  pause: {
    requestLine: `POST ${base}/pause`,
    operationId: "pauseSpace",
    summary: "Pause a Space",
    request: { params },
    response: spaceRuntime,
  },
  restart: {
    requestLine: `POST ${base}/restart`,
    operationId: "restartSpace",
    summary: "Restart a Space",
    request: { params, query: z.object({ factory: clientFlag() }) },
    response: spaceRuntime,
  },
  logs: {
    requestLine: `GET ${base}/logs/{logType}`,
    operationId: "streamSpaceLogs",
    summary: "Stream the log of a Space",
    request: { params: logParams, query: z.object({ tail: optionalWholeNumber({ minimum: 0, maximum: 1_000_000 }) }) },
    response: undocumentedBody,
  },
  events: {
    requestLine: `GET ${base}/events`,
    operationId: "streamSpaceEvents",
    summary: "Stream the runtime of a Space",
    request: { params },
    response: undocumentedBody,
  },
} as const satisfies Operations;
