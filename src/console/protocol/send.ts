import * as z from "zod/mini";
import type { FieldProblem } from "./session.ts";

/** A payload to start from. */
export interface SendSample {
  /** The name in the menu, such as `repo.content update`. */
  name: string;
  scope: string;
  action: string;
  repoType: string;
}

/** The answer of `GET /api/send/options`. */
export interface SendOptions {
  /** Whether events go directly to the endpoints of the server, because the session has no local Hub. */
  isDirect: boolean;
  scopes: readonly { scope: string; actions: readonly string[] }[];
  /** Repositories that webhooks or endpoints watch, and those of the local Hub, as `type:name`. */
  repositories: readonly string[];
  /** The repository to start with: a dataset that a webhook or endpoint watches, otherwise the best of `repositories`. */
  defaultRepository?: string;
  samples: readonly SendSample[];
}

/** The query of `GET /api/send/payload`: fills in the payload of an event. `pr`: a new discussion is a pull request. */
export const sendDraft = z.object({
  ...{ scope: z.string(), action: z.string(), repository: z.string() },
  pr: z.optional(z.literal("true")),
});
export type SendDraft = z.infer<typeof sendDraft>;

/** The files of a push or a pull request by path: text, bytes in Base64, or `null` to delete the file. */
const sentFiles = z.record(z.string(), z.union([z.string(), z.strictObject({ base64: z.base64() }), z.null()]));
export type SentFiles = z.infer<typeof sentFiles>;

/** The body of `POST /api/send/preview` and of `POST /api/send`. */
export const sendRequest = z.strictObject({
  /** The payload as JSON text. */
  body: z.string(),
  /**
   * The payload as `GET /api/send/payload` filled it in, if the user started from it. The local Hub then makes the change of the
   * event, as long as the edits only describe the change.
   */
  draft: z.optional(z.string()),
  /** The files of the push or the pull request. Only if the local Hub makes the change. A preview needs only their paths. */
  files: z.optional(sentFiles),
  /** The endpoints to send to. Default: all endpoints. Only for events that go directly to the server. */
  endpoints: z.optional(z.array(z.string()).check(z.minLength(1))),
});
export type SendRequest = z.infer<typeof sendRequest>;

/** A webhook or an endpoint, and whether it receives an event. */
export interface SendRecipient {
  /** `endpoint`: it receives the event directly. */
  kind: "webhook" | "endpoint";
  name: string;
  url?: string;
  webhookId?: string;
  /** The endpoint of the dev session that the webhook delivers to. */
  endpoint?: string;
  /** The reason why the webhook does not receive the event, such as its domains. Missing if it receives the event. */
  skipped?: string;
  /** The reason why the endpoint ignores the event, although it receives it. */
  ignored?: string;
  /** What the endpoint decides when it receives the event, such as `if a changed file matches data/**`. */
  condition?: string;
}

/** The answer of `POST /api/send/preview`. */
export interface SendPreview {
  problems: readonly FieldProblem[];
  recipients: readonly SendRecipient[];
  /**
   * `change`: the local Hub makes the change of the event, such as a commit, and sends the payload of this change. `payload`: the
   * payload is sent as it is, and nothing changes. Missing if the payload is invalid, or without a local Hub.
   */
  effect?: "change" | "payload";
}

/** The answer of `POST /api/send`. */
export interface SendResult {
  /** The deliveries that the event caused. `status` is that of the response, if there is one already. */
  deliveries: readonly SentDelivery[];
  /** The event in `GET /api/events`. Missing without a local Hub. */
  eventId?: string;
}

export interface SentDelivery {
  id: string;
  recipient: string;
  status?: number;
  /** The time until the response. */
  durationMs?: number;
  /** The reason why the recipient did not accept the delivery. */
  problem?: string;
  /** The reason why the endpoint ignored the delivery. */
  ignored?: string;
  webhookId?: string;
  /** The endpoint whose delivery it is, under the same ID. Missing if the endpoint has no such delivery. */
  endpoint?: string;
}

/** The answer of `GET /api/scenarios`: the paths of the scenario files in the folder of the project. */
export interface ScenarioList {
  folder: string;
  files: readonly string[];
  /** Whether there are more files. */
  isCut: boolean;
}

/** The query of `GET /api/scenarios/one`. */
export const scenarioKey = z.object({ file: z.string() });

/** The answer of `GET /api/scenarios/one`: what each step does. Invalid fields are an error that names them. */
export interface ScenarioSteps {
  steps: readonly string[];
  /** The text of a file that is not JSON. The app finds the line of the error. */
  invalidJson?: string;
}

/** The body of `POST /api/scenarios/step`. The answer comes after the deliveries of the step. */
export const scenarioStep = z.strictObject({ file: z.string(), step: z.int().check(z.minimum(0)) });

/** The answer of `POST /api/scenarios/step`. */
export interface StepResult {
  deliveries: number;
  /** The failed deliveries. */
  problems: readonly string[];
}

/** The answer of `GET /api/recording`. `POST /api/recording/start` starts a recording. */
export interface RecordingState {
  /** The number of recorded steps. Missing if nothing is recorded. */
  steps?: number | undefined;
}

/** The query of `GET /api/recording/state`, from a payload: what a test of it has to create first. */
export const payloadState = z.object({
  ...{ type: z.string(), name: z.string(), num: z.optional(z.coerce.number()) },
  ...{ ref: z.optional(z.string()), oldSha: z.optional(z.string()), newSha: z.optional(z.string()) },
});

/** The answer of `GET /api/recording/state`. */
export interface TestState {
  /** The events of a scenario. Empty if the local Hub does not have the repository or the commit. */
  events: readonly object[];
  /** What the scenario does not contain. */
  notes: readonly string[];
}

/** The answer of `POST /api/recording/stop`. */
export interface RecordedScenario {
  /** The content of a scenario file. */
  scenario: string;
  steps: number;
  /** What the scenario does not contain, or what the user should check. */
  notes: readonly string[];
}
