import type { Context } from "hono";
import * as z from "zod/mini";
import { WebhookError } from "../../core/errors.ts";
import { errorAnswer, toResponse } from "../../http/answer.ts";
import { readHonoBody } from "../pipeline/hono-body.ts";
import { parseJson } from "../pipeline/parse-json.ts";
import { asset, bodyResponse, deliveryPage, listPage, problemPage } from "./page.ts";
import type { DashboardSource } from "./source.ts";
import { statuses } from "./status.ts";

/** Deliveries on one page of the list: each comes with its body. */
const pageSize = 25;
/** A page that does not come tells nothing; after this an inbox counts as down. */
const deadlineMs = 5_000;
/** Many may be dead, and an engine may take them one by one. */
const replayDeadDeadlineMs = 60_000;
/** In bytes; a request names a delivery and no more. */
const longestRequest = 4_096;

const replayRequest = z.object({ endpoint: z.string(), id: z.string() });
const replayDeadRequest = z.object({ endpoint: z.string() });

type Query = Readonly<Record<string, string>>;

/** What the owner sees of the inbox, and may do. It does not ask who asks. */
export class Dashboard {
  readonly #source: DashboardSource;

  constructor(source: DashboardSource) {
    this.#source = source;
  }

  /** The list, or one delivery where the query names one. */
  async page(context: Context): Promise<Response> {
    const query = context.req.query();
    const home = this.#home(context);
    try {
      return await (query.id === undefined ? this.#list(query, home) : this.#delivery(query, query.id, home));
    } catch (error) {
      return problemPage(this.#told(error), home);
    }
  }

  /** The body of a delivery, byte by byte as it arrived. */
  async body(context: Context): Promise<Response> {
    const { id = "", endpoint = "" } = context.req.query();
    const home = this.#home(context);
    try {
      const delivery = await inTime(this.#source.inbox.get(id, { endpoint }));
      return delivery?.body === undefined ? problemPage(noSuchDelivery(), home) : bodyResponse(delivery.body);
    } catch (error) {
      return problemPage(this.#told(error), home);
    }
  }

  asset(name: string | undefined): Response | undefined {
    return asset(name ?? "");
  }

  /** Runs a delivery again. */
  replay(context: Context): Promise<Response> {
    return this.#act(context, replayRequest, async ({ id, endpoint }) => {
      await inTime(this.#source.inbox.replay(id, { endpoint }));
      this.#source.log.info({ endpoint, deliveryId: id }, "delivery replayed from the dashboard");
      return 1;
    });
  }

  /** Runs all dead deliveries of an endpoint again. */
  replayDead(context: Context): Promise<Response> {
    return this.#act(context, replayDeadRequest, async ({ endpoint }) => {
      const replayed = await inTime(this.#source.inbox.replayDead(endpoint), replayDeadDeadlineMs);
      this.#source.log.info({ endpoint, replayed }, "dead deliveries replayed from the dashboard");
      return replayed;
    });
  }

  async #list(query: Query, home: string): Promise<Response> {
    const { inbox, endpointNames, now } = this.#source;
    const status = statuses.find((known) => known === query.status);
    const chosen = { ...(status && { status }), ...(query.endpoint && { endpoint: query.endpoint }) };
    const cursor = query.cursor || undefined;
    const [counts, page] = await inTime(
      Promise.all([inbox.counts(), inbox.list({ ...chosen, limit: pageSize, ...(cursor && { cursor }) })]),
    );
    const view = {
      ...chosen,
      ...page,
      counts,
      endpointNames: endpointNames(),
      isFirstPage: cursor === undefined,
      now: new Date(now()),
    };
    return listPage(view, home);
  }

  async #delivery({ endpoint = "" }: Query, id: string, home: string): Promise<Response> {
    const { inbox, endpointNames, now } = this.#source;
    const delivery = await inTime(inbox.get(id, { endpoint }));
    if (!delivery) return problemPage(noSuchDelivery(), home);
    return deliveryPage({ delivery, isWorkedOn: endpointNames().includes(endpoint), now: new Date(now()) }, home);
  }

  async #act<Request>(
    context: Context,
    schema: z.ZodMiniType<Request>,
    act: (request: Request) => Promise<number>,
  ): Promise<Response> {
    try {
      const { data, success } = schema.safeParse(parseJson(await readHonoBody(context, longestRequest)));
      if (!success) return toResponse(errorAnswer(requestInvalid()));
      return Response.json({ replayed: await act(data) });
    } catch (error) {
      return toResponse(errorAnswer(this.#told(error)));
    }
  }

  /** The address of the landing page. Below a prefix without a slash at its end, which is where Hono's router has it. */
  #home(context: Context): string {
    return this.#source.mountPoint.prefixOf(context) || "./";
  }

  /** What may be said of an error: those of a driver may hold anything, and are for the log alone. */
  #told(cause: unknown): WebhookError {
    if (WebhookError.isInstance(cause) && cause.code !== "INTERNAL") {
      const status = cause.status ?? (cause.code === "OPTION_INVALID" ? 400 : 503);
      if (status >= 500) this.#source.log.error({ err: cause }, "The dashboard could not read the inbox.");
      return new WebhookError(cause.message, { code: cause.code, status });
    }
    this.#source.log.error({ err: cause }, "The dashboard could not read the inbox.");
    return new WebhookError("The inbox does not answer; the log of the server says why.", {
      code: "INBOX_UNAVAILABLE",
      status: 503,
    });
  }
}

/** @throws `INBOX_UNAVAILABLE` when it takes too long. */
function inTime<Result>(pending: Promise<Result>, milliseconds: number = deadlineMs): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(
        new WebhookError(`The inbox did not answer within ${milliseconds / 1000} seconds: look whether it is up.`, {
          code: "INBOX_UNAVAILABLE",
          status: 503,
        }),
      );
    }, milliseconds);
    pending.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

function noSuchDelivery(): WebhookError {
  return new WebhookError("There is no such delivery in the inbox, or its body is not kept any more.", {
    code: "DELIVERY_UNKNOWN",
    status: 404,
  });
}

function requestInvalid(): WebhookError {
  return new WebhookError('Name the endpoint, and for one delivery its id, as in {"endpoint":"retrain","id":"…"}.', {
    code: "ARGUMENT_INVALID",
    status: 400,
  });
}
