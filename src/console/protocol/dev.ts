import * as z from "zod/mini";

/** The levels of log lines. `output`: a line that is not from the logger. */
export const logLevels = ["debug", "info", "warn", "error", "output"] as const;
export type LogLevel = (typeof logLevels)[number];

/** A line of the receiver's log or output. */
export interface LogLine {
  /** Counts up from 1. */
  sequence: number;
  /** Milliseconds since the epoch. */
  at: number;
  level: LogLevel;
  message: string;
  /** The other fields, as JSON text of an object. */
  fields?: string;
  endpoint?: string;
  deliveryId?: string;
}

/** The query of `GET /api/logs`. Lines are filtered by level and delivery in the page. */
export const logQuery = z.object({
  /** Only lines after this sequence. */
  after: z.optional(z.coerce.number()),
});

/** The answer of `GET /api/logs`: the newest lines that are kept, oldest first. */
export interface LogList {
  lines: readonly LogLine[];
}

/** Lines of source around an error. */
export interface CodeFrame {
  /** The absolute path of the file. */
  file: string;
  line: number;
  column: number;
  /** `isError`: the line of the error. */
  lines: readonly { number: number; text: string; isError: boolean }[];
}

/** Why the server file does not run. */
export interface ReloadProblem {
  message: string;
  stack?: string;
  frame?: CodeFrame;
  /** Whether the server is restarted even if no file changes. */
  isRestarted: boolean;
}

/** The answer of `GET /api/dev`. */
export interface DevInfo {
  /** The server file, relative to the working folder. */
  file: string;
  state: "loading" | "serving" | "broken";
  problem?: ReloadProblem;
  url: string;
  publicUrl: string;
  hub: { kind: "local" | "real"; url: string };
  /** Missing without a tunnel. */
  tunnel?: { status: "up" | "down"; reason?: string };
  inbox?: string;
  endpoints: readonly { name: string; url: string; watch: readonly string[]; trigger?: readonly string[] }[];
}

const position = z.optional(z.int().check(z.minimum(1)));

/** The body of `POST /api/dev/open-editor`. `file` is an absolute path below the working folder. */
export const openEditorRequest = z.strictObject({ file: z.string(), line: position, column: position });
