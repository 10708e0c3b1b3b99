import type { Context, Hono } from "hono";
import type * as z from "zod/mini";
import { describeIssue, isRecord } from "../../core/describe.ts";
import { WebhookError } from "../../core/errors.ts";
import { parseJson, readHonoBody } from "../../http/body.ts";
import { actionsByScope, scopes } from "../../payload/names.ts";
import { findPayloadProblems, parsePayload } from "../../payload/parse.ts";
import type { WebhookPayload } from "../../payload/schema.ts";
import type { CheckResult } from "../protocol/checks.ts";
import {
  type ConsoleStatus,
  consoleStatuses,
  type DeadCount,
  type DeadReplayed,
  type DeliveryDetails,
  type DeliveryFilter,
  type DeliveryKey,
  type DeliveryList,
  deliveryFilter,
  deliveryKey,
  deliveryListQuery,
  type EndpointList,
  editedReplay,
  endpointRequest,
  type ReplayStarted,
} from "../protocol/deliveries.ts";
import type { InboxInfo } from "../protocol/inbox.ts";
import {
  type SendDraft,
  type SendOptions,
  type SendPreview,
  type SendRequest,
  type SendResult,
  type SendSample,
  sendDraft,
  sendRequest,
} from "../protocol/send.ts";
import type { ApiError, FieldProblem } from "../protocol/session.ts";

/**
 * Adds the routes of one feature, such as `app.get("/deliveries", …)`, below `/_console/api`. The routes only run for signed-in
 * requests, and changes only with a valid CSRF token. Thrown `WebhookError`s become answers.
 */
export type ConsoleResource = (app: Hono) => void;

/** The maximum size of a request, in bytes. An edited payload can be as large as the largest delivery. */
export const maxRequestBytes = 11 * 1024 * 1024;

/**
 * Reads the query of a request.
 *
 * @throws `ARGUMENT_INVALID` (400).
 */
export function readQuery<Schema extends z.ZodMiniType>(context: Context, schema: Schema): z.output<Schema> {
  return parse(context.req.query(), schema);
}

/**
 * Reads the JSON body of a request. `maxBytes`: the maximum size of the body.
 *
 * @throws `ARGUMENT_INVALID`, `BODY_NOT_JSON`, `BODY_TOO_DEEP` (400), `BODY_TOO_LARGE` (413).
 */
export async function readBody<Schema extends z.ZodMiniType>(
  context: Context,
  schema: Schema,
  { maxBytes = maxRequestBytes }: { maxBytes?: number } = {},
): Promise<z.output<Schema>> {
  return parse(parseJson(await readHonoBody(context, maxBytes)), schema);
}

function parse<Schema extends z.ZodMiniType>(value: unknown, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(value, { error: describeIssue });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "request"}: ${message}`);
  throw badRequest(`Invalid request. Fix these fields: ${problems.join("; ")}.`);
}

export function badRequest(message: string): WebhookError {
  return new WebhookError(message, { code: "ARGUMENT_INVALID", status: 400 });
}

/** The filters of a list. Times are milliseconds since the epoch. */
export interface DeliveryQuery extends Omit<DeliveryFilter, "status"> {
  /** `undefined`: all statuses. */
  statuses: readonly ConsoleStatus[] | undefined;
}

/** The deliveries that a console shows, and their actions. */
export interface DeliverySource {
  /** Lists about `limit` deliveries, newest first. */
  list(query: DeliveryQuery, page: { limit: number; cursor: string | undefined }): Promise<DeliveryList>;
  get(key: DeliveryKey): Promise<DeliveryDetails | undefined>;
  /** @throws `DELIVERY_UNKNOWN`. */
  replay(key: DeliveryKey): Promise<ReplayStarted>;
  /** Runs a copy of a delivery with another body. The original may be gone. @throws `ENDPOINT_UNKNOWN`, `FieldError`. */
  replayEdited(key: DeliveryKey, body: string): Promise<ReplayStarted>;
  countDead(query: DeliveryQuery): Promise<DeadCount>;
  replayDead(query: DeliveryQuery): Promise<DeadReplayed>;
  /** @throws `DELIVERY_UNKNOWN`, `DELIVERY_RUNNING`. */
  discard(key: DeliveryKey): Promise<void>;
}

const defaultLimit = 50;

export function deliveriesApi(source: DeliverySource): ConsoleResource {
  return (app) => {
    app.get("/deliveries", async (context) => {
      const { limit = defaultLimit, cursor, ...filter } = readQuery(context, deliveryListQuery);
      return context.json(await source.list(toQuery(filter), { limit, cursor }));
    });
    app.get("/deliveries/one", async (context) => {
      const details = await source.get(readQuery(context, deliveryKey));
      if (!details) throw deliveryUnknown();
      return context.json(details);
    });
    post(app, "/deliveries/replay", deliveryKey, (key) => source.replay(key));
    post(app, "/deliveries/replay-edited", editedReplay, ({ body, ...key }) => source.replayEdited(key, body));
    post(app, "/deliveries/count-dead", deliveryFilter, (filter) => source.countDead(toQuery(filter)));
    post(app, "/deliveries/replay-dead", deliveryFilter, (filter) => source.replayDead(toQuery(filter)));
    post(app, "/deliveries/discard", deliveryKey, (key) => source.discard(key));
  };
}

/** Adds a route that answers a JSON body with the result of `run`, or with `{}` without a result. */
function post<Schema extends z.ZodMiniType>(
  app: Hono,
  path: string,
  schema: Schema,
  run: (request: z.output<Schema>) => Promise<unknown>,
): void {
  app.post(path, async (context) => context.json((await run(await readBody(context, schema))) ?? {}));
}

export function deliveryUnknown(): WebhookError {
  return new WebhookError("This delivery is not stored, or its body is not kept any longer. Reload the list.", {
    code: "DELIVERY_UNKNOWN",
    status: 404,
  });
}

/** @throws `ARGUMENT_INVALID` for an unknown status. */
function toQuery({ status, ...filter }: DeliveryFilter): DeliveryQuery {
  const names = status?.split(",").filter((name) => name !== "") ?? [];
  const statuses = names.map((name) => {
    const known = consoleStatuses.find((candidate) => candidate === name);
    if (known) return known;
    const valid = consoleStatuses.join(", ");
    throw badRequest(`Unknown status ${JSON.stringify(name.slice(0, 50))}. Valid statuses: ${valid}.`);
  });
  return { ...filter, statuses: statuses.length > 0 ? statuses : undefined };
}

export interface SentEvent extends Pick<SendRequest, "draft" | "files" | "endpoints"> {
  payload: WebhookPayload;
}

/** Sends the events of a console: through the local Hub, or directly to the endpoints of the server. */
export interface SendSource {
  readonly isDirect: boolean;
  /** Returns the repositories to suggest, as `type:name`. The first choice is one that is watched, if possible a dataset. */
  repositories(): { watched: readonly string[]; others: readonly string[] };
  /** Returns the payload of an event as JSON text. @throws `ARGUMENT_INVALID`. */
  draftPayload(draft: SendDraft): string;
  /** Returns the recipients of an event. */
  preview(event: SentEvent): Omit<SendPreview, "problems">;
  send(event: SentEvent): Promise<SendResult>;
}

const maxRepositories = 1_000;

export function sendApi(source: SendSource): ConsoleResource {
  return (app) => {
    app.get("/send/options", (context) => context.json(describeOptions(source)));

    app.get("/send/payload", (context) =>
      context.json({ body: readDraftPayload(source, readQuery(context, sendDraft)) }),
    );

    post(app, "/send/preview", sendRequest, async ({ body, ...request }): Promise<SendPreview> => {
      const parsed = parseSentPayload(body);
      if ("problems" in parsed) return { problems: parsed.problems, recipients: [] };
      return { problems: [], ...source.preview({ ...request, ...parsed }) };
    });

    post(app, "/send", sendRequest, async ({ body, ...request }) => {
      const parsed = parseSentPayload(body);
      if ("problems" in parsed) {
        const message = "The payload is invalid. Fix the fields, and send it again.";
        throw new FieldError(new WebhookError(message, { code: "PAYLOAD_INVALID" }), parsed.problems);
      }
      if (request.endpoints && !source.isDirect) {
        throw badRequest("The local Hub sends events to webhooks. Remove the field endpoints.");
      }
      return source.send({ ...request, ...parsed });
    });
  };
}

function describeOptions(source: SendSource): SendOptions {
  const { watched, others } = source.repositories();
  const defaultRepository = watched.find(isDataset) ?? watched[0] ?? others.find(isDataset) ?? others[0];
  return {
    isDirect: source.isDirect,
    scopes: scopes.map((scope) => ({ scope, actions: actionsByScope[scope] })),
    repositories: [...new Set([...watched, ...others])].slice(0, maxRepositories),
    ...(defaultRepository !== undefined && { defaultRepository }),
    samples: describeSamples(),
  };
}

/** Each scope has a sample with a dataset, and pushes differ for buckets. */
function describeSamples(): readonly SendSample[] {
  const withDataset = scopes.flatMap((scope) =>
    actionsByScope[scope].map((action) => ({ name: `${scope} ${action}`, scope, action, repoType: "dataset" })),
  );
  return withDataset.flatMap((sample) =>
    sample.scope === "repo.content"
      ? [sample, { ...sample, name: `${sample.name} (bucket)`, repoType: "bucket" }]
      : [sample],
  );
}

function isDataset(repository: string): boolean {
  return repository.startsWith("dataset:");
}

function readDraftPayload(source: SendSource, draft: SendDraft): string {
  try {
    return JSON.stringify(JSON.parse(source.draftPayload(draft)), null, 2);
  } catch (error) {
    if (!WebhookError.isInstance(error) || error.code !== "ARGUMENT_INVALID") throw error;
    throw badRequest(error.message);
  }
}

/** The endpoints that a console shows, and their actions. */
export interface EndpointSource {
  list(): Promise<EndpointList>;
  /** Stops running the deliveries of a background endpoint. @throws `ENDPOINT_UNKNOWN`, `ARGUMENT_INVALID`. */
  pause(endpoint: string): Promise<void>;
  resume(endpoint: string): Promise<void>;
}

export function endpointsApi(source: EndpointSource): ConsoleResource {
  return (app) => {
    app.get("/endpoints", async (context) => context.json(await source.list()));
    post(app, "/endpoints/pause", endpointRequest, ({ endpoint }) => source.pause(endpoint));
    post(app, "/endpoints/resume", endpointRequest, ({ endpoint }) => source.resume(endpoint));
  };
}

export interface InboxSource {
  /** Never rejects because of the inbox: its errors are part of the answer. */
  read(): Promise<InboxInfo>;
}

export function inboxApi(source: InboxSource): ConsoleResource {
  return (app) => {
    app.get("/inbox", async (context) => context.json(await source.read()));
  };
}

/** The route of the checks. A `POST`, so that no page of another site can cause their requests. */
export function checksApi(run: () => Promise<readonly CheckResult[]>): ConsoleResource {
  return (app) => void app.post("/checks", async (context) => context.json(await run()));
}

/** A payload that the user has edited, or its invalid fields. */
type SentPayload = { payload: WebhookPayload } | { problems: readonly FieldProblem[] };

/** Parses and validates the text of a payload. The field `webhook` is replaced, because each recipient gets its own value. */
export function parseSentPayload(text: string): SentPayload {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (WebhookError.isInstance(error)) return { problems: [{ path: [], problem: error.message }] };
    throw error;
  }
  if (isRecord(value)) value = { ...value, webhook: { id: "", version: 3 } };
  const problems = findPayloadProblems(value);
  return problems.length > 0 ? { problems } : { payload: parsePayload(value) };
}

/** An invalid payload that the user has edited. The console shows each problem at its field. */
export class FieldError extends Error {
  override readonly name = "FieldError";
  readonly status = 422;
  readonly answer: ApiError;

  constructor(cause: WebhookError, fields: readonly FieldProblem[]) {
    super(cause.message, { cause });
    this.answer = { error: cause.message, code: cause.code, fields };
  }
}
