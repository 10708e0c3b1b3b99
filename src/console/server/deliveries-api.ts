import { WebhookError } from "../../core/errors.ts";
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
  editedReplay,
  type ReplayStarted,
} from "../protocol/deliveries.ts";
import type { ConsoleResource } from "./console.ts";
import { readBody, readQuery } from "./requests.ts";

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

/** The routes of the deliveries. */
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
    app.post("/deliveries/replay", async (context) =>
      context.json(await source.replay(await readBody(context, deliveryKey))),
    );
    app.post("/deliveries/replay-edited", async (context) => {
      const { body, ...key } = await readBody(context, editedReplay);
      return context.json(await source.replayEdited(key, body));
    });
    app.post("/deliveries/count-dead", async (context) =>
      context.json(await source.countDead(toQuery(await readBody(context, deliveryFilter)))),
    );
    app.post("/deliveries/replay-dead", async (context) =>
      context.json(await source.replayDead(toQuery(await readBody(context, deliveryFilter)))),
    );
    app.post("/deliveries/discard", async (context) => {
      await source.discard(await readBody(context, deliveryKey));
      return context.json({});
    });
  };
}

/** Creates the error for a delivery that is not stored. */
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
    if (known === undefined) throw statusUnknown(name);
    return known;
  });
  return { ...filter, statuses: statuses.length > 0 ? statuses : undefined };
}

function statusUnknown(name: string): WebhookError {
  return new WebhookError(
    `Unknown status ${JSON.stringify(name.slice(0, 50))}. Valid statuses: ${consoleStatuses.join(", ")}.`,
    { code: "ARGUMENT_INVALID", status: 400 },
  );
}
