import { WebhookError, type WebhookErrorCode } from "../core/errors.ts";
import type { Outcome } from "../payload/delivery.ts";
import { launchHost } from "../receiver/launch-host.ts";
import { type DetailedServer, type JobDelivery, serverDetails } from "../receiver/server-details.ts";
import type { WebhooksServer } from "../receiver/webhooks-server.ts";
import { serverFileInvalid } from "../server-file/invalid.ts";
import { abortedBySignals } from "./process-signals.ts";

/** What {@link runJob} may be given beside the server. */
export interface RunJobOptions {
  /** The endpoint to run. Default: the only one. */
  endpoint?: string | undefined;
  /** Where `WEBHOOK_PAYLOAD` and `WEBHOOK_ID` are. Default: the environment of the process. */
  environment?: Readonly<Record<string, string | undefined>>;
  /** Aborts the handler's signal. Default: the first SIGTERM or SIGINT does, and the second ends the process. */
  signal?: AbortSignal;
}

/** How a job ended that did not fail. */
export type JobOutcome = Exclude<Outcome, { status: "failed" }>;

/**
 * Runs an endpoint of a server inside a job of a webhook: on the payload in `WEBHOOK_PAYLOAD`, with `WEBHOOK_ID` as
 * the delivery's id. Filter, schema, time limit and log line are those of a delivery over HTTP. The secret is not asked
 * for: whoever sets the environment of a process needs none. An endpoint that works in the background is run here at
 * once, one time, and no inbox is opened: it is the job that may be tried again.
 *
 * A failure is thrown. As the last line of a file that makes the process end with 1, and otherwise with 0.
 *
 * @throws `HANDLER_FAILED` with what the handler threw as `cause`, `HANDLER_TIMED_OUT`, `RESULT_NOT_JSON`;
 * `PAYLOAD_MISSING`, `BODY_NOT_JSON`, `BODY_TOO_DEEP`, `PAYLOAD_INVALID`; `ENDPOINT_REQUIRED`, `ENDPOINT_UNKNOWN`;
 * `SERVER_FILE_INVALID` in a file that `hub-webhooks` runs, which is to run no job by itself; `OPTION_INVALID`; the
 * reason of `signal` where that is aborted before.
 * @example
 * ```ts
 * import { runJob } from "hub-webhooks/job";
 * import server from "./server.ts";
 *
 * await runJob(server, { endpoint: "retrain" });
 * ```
 */
export async function runJob(server: WebhooksServer, options: RunJobOptions = {}): Promise<JobOutcome> {
  if (launchHost()) {
    throw serverFileInvalid(
      "It runs a job itself, by runJob(): start it with node, or move that line to a file of its own.",
    );
  }
  const { environment = process.env } = options;
  const endpoint = chooseEndpoint(server, options.endpoint);
  const body = readPayload(environment);
  const signals = options.signal ? undefined : abortedBySignals();
  const signal = options.signal ?? signals?.signal ?? AbortSignal.abort();
  try {
    signal.throwIfAborted();
    const outcome = await deliver(server, { endpoint, body, id: environment.WEBHOOK_ID, signal });
    if (outcome.status === "failed") throw outcome.error;
    return outcome;
  } finally {
    signals?.release();
  }
}

/** The endpoint that is meant. None is guessed by its filter: with the next one that is added, it might be another. */
function chooseEndpoint(server: DetailedServer, name: string | undefined): string {
  const names = server[serverDetails]().endpoints.map((endpoint) => endpoint.name);
  const [only] = names;
  if (only === undefined) {
    throw new WebhookError("The server has no endpoint: register a handler, with server.webhook(…).", {
      code: "ENDPOINT_UNKNOWN",
    });
  }
  const listed = names.join(", ");
  if (name !== undefined) {
    if (names.includes(name)) return name;
    throw new WebhookError(`There is no endpoint "${name}": name one that the server has: ${listed}.`, {
      code: "ENDPOINT_UNKNOWN",
    });
  }
  if (names.length === 1) return only;
  throw new WebhookError(
    `The server has several endpoints: ${listed}. Say which one the job is for: --endpoint ${only} in the command, or runJob(server, { endpoint: "${only}" }).`,
    { code: "ENDPOINT_REQUIRED" },
  );
}

function readPayload({ WEBHOOK_PAYLOAD: body }: Readonly<Record<string, string | undefined>>): string {
  if (body) return body;
  throw new WebhookError(
    "WEBHOOK_PAYLOAD is not set: the Hub sets it in the job of a webhook. To try it here, have a local Hub run the job (hub-webhooks hub --run-jobs), or put a payload into the variable.",
    { code: "PAYLOAD_MISSING" },
  );
}

const payloadCodes: ReadonlySet<WebhookErrorCode> = new Set(["BODY_NOT_JSON", "BODY_TOO_DEEP", "PAYLOAD_INVALID"]);

async function deliver(server: DetailedServer, job: JobDelivery): Promise<Outcome> {
  try {
    return await server[serverDetails]().runJob(job);
  } catch (error) {
    if (!WebhookError.isInstance(error) || !payloadCodes.has(error.code)) throw error;
    throw new WebhookError(
      `What WEBHOOK_PAYLOAD holds is nothing for endpoint "${job.endpoint}": ${error.message} Give it the payload of a delivery as it stands, or name the endpoint that it is for.`,
      { code: error.code, cause: error },
    );
  }
}
