import * as z from "zod";
import { HubError } from "../../../core/errors.ts";

/** Where the local Hub listens unless it is told otherwise. */
export const defaultEndpoint = "http://127.0.0.1:5050";

/** What {@link ask} needs. */
export interface AskOptions<Schema> {
  endpoint: string;
  path: string;
  schema: Schema;
  signal: AbortSignal;
  /** The error where somebody listens and the answer does not come, or not as HTTP. */
  unanswered: () => HubError;
  /** JSON; sent by POST. */
  body?: string;
}

const refusal = z.object({ error: z.string() });

/**
 * Asks the control of a local Hub, and reads the answer.
 *
 * @throws `HUB_UNREACHABLE` when nobody listens, `HUB_RESPONSE_INVALID` when it is not a local Hub, `ARGUMENT_INVALID`
 * when it refuses.
 */
export async function ask<Schema extends z.ZodType>(options: AskOptions<Schema>): Promise<z.output<Schema>> {
  const { endpoint, path, schema, signal, unanswered, body } = options;
  const post = body !== undefined && { method: "POST", headers: { "content-type": "application/json" }, body };
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${endpoint}${path}`, { ...post, redirect: "manual", signal });
    text = await response.text();
  } catch (error) {
    throw isRefused(error) ? nobody(endpoint) : unanswered();
  }
  const answer = readJson(text);
  const read = schema.safeParse(answer);
  if (response.ok && read.success) return read.data;
  const refused = refusal.safeParse(answer);
  if (response.status === 400 && refused.success) {
    throw new HubError(`The local Hub refuses this: ${refused.data.error}`, { code: "ARGUMENT_INVALID" });
  }
  throw notALocalHub(endpoint);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether nobody listens, by the code of the system, which stands below what fetch throws. */
function isRefused(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isRefused);
  if (!(error instanceof Error)) return false;
  return ("code" in error && error.code === "ECONNREFUSED") || isRefused(error.cause);
}

function nobody(endpoint: string): HubError {
  return new HubError(
    `No local Hub listens at ${endpoint}: start one, with npx hub-webhooks dev server.ts or npx hub-webhooks hub, or give its address with --endpoint.`,
    { code: "HUB_UNREACHABLE" },
  );
}

/** The error of a local Hub that has answered before, and does not now. */
export function gone(endpoint: string): HubError {
  return new HubError(
    `The local Hub at ${endpoint} went away before it had answered: look at what it says, start it again and try again.`,
    { code: "HUB_UNREACHABLE" },
  );
}

/** The error where something else listens. */
export function notALocalHub(endpoint: string): HubError {
  return new HubError(
    `What listens at ${endpoint} does not answer as a local Hub does: give the address of one with --endpoint or HF_ENDPOINT, or send straight to a receiver with --url.`,
    { code: "HUB_RESPONSE_INVALID" },
  );
}

/** The error of an address that is not on this machine. */
export function notLocal(endpoint: string): HubError {
  return new HubError(
    `${endpoint} is not on this machine, and only a local Hub lets things happen that nobody does. Start one with npx hub-webhooks dev server.ts and add --endpoint ${defaultEndpoint}, or send straight to a receiver with --url. On the real Hub, push a commit, or send an old delivery again with hub-webhooks replay.`,
    { code: "OPTION_INVALID", fields: ["endpoint"] },
  );
}
