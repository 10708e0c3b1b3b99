import { devNull } from "node:os";
import { pino } from "pino";
import type { Payload } from "./delivery.ts";

type LogMethod = (fields: object | string, message?: string) => void;

/** The methods of pino that the subjects use. */
export interface SubjectLog {
  debug: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
  child(bindings: Record<string, unknown>): SubjectLog;
}

const ignore: LogMethod = () => {};
const silentLog: SubjectLog = { debug: ignore, info: ignore, warn: ignore, error: ignore, child: () => silentLog };

/** The logger of every subject: pino with a discarding destination, or no logger if the first argument is "silent". */
export function openLog(): SubjectLog {
  if (process.argv[2] === "silent") return silentLog;
  return pino(pino.destination({ dest: devNull, sync: false }));
}

/** The fields of the log line of a delivery. */
export interface Done {
  deliveryId: string | string[] | null | undefined;
  payload: Payload;
  /** Of `performance.now()`. */
  startedAt: number;
  outcome?: "accepted";
}

/** Writes the same log line in every subject, because its length is a large part of the cost of a delivery. */
export function logDelivery(log: SubjectLog, { deliveryId, payload: { event, repo }, startedAt, outcome }: Done): void {
  const fields = {
    endpoint: "bench",
    deliveryId,
    repo: `${repo.type}:${repo.name}`,
    scope: event.scope,
    action: event.action,
  };
  const ms = Math.round((performance.now() - startedAt) * 10) / 10;
  if (outcome) log.info({ ...fields, status: 202, ms }, "delivery accepted");
  else log.info({ ...fields, outcome: "succeeded", status: 200, ms }, "delivery succeeded");
}
