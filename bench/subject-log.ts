import { devNull } from "node:os";
import { pino } from "pino";
import type { Payload } from "./delivery.ts";

type LogMethod = (fields: object | string, message?: string) => void;

/** As much of pino's shape as the subjects use. */
export interface SubjectLog {
  debug: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
  child(bindings: Record<string, unknown>): SubjectLog;
}

const ignore: LogMethod = () => {};
const silentLog: SubjectLog = { debug: ignore, info: ignore, warn: ignore, error: ignore, child: () => silentLog };

/** The one log of every subject: pino writing to nowhere, or nothing at all when the first argument is "silent". */
export function openLog(): SubjectLog {
  if (process.argv[2] === "silent") return silentLog;
  return pino(pino.destination({ dest: devNull, sync: false }));
}

/** What is known of a delivery when it is done. */
export interface Done {
  deliveryId: string | string[] | null | undefined;
  payload: Payload;
  /** Of `performance.now()`. */
  startedAt: number;
  outcome?: "accepted";
}

/** The one line of a delivery: the same of every subject, since its length is a good part of what a delivery costs. */
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
