import { devNull } from "node:os";
import { pino } from "pino";

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
