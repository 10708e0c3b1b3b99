import * as z from "zod/mini";
import type { DeliverySummary } from "./deliveries.ts";

/** The programs that serve a console: `hub-webhooks dev`, a receiver, and a local Hub. */
export type ConsolePlace = "dev" | "receiver" | "hub";

/** The parts of the console. Each place has some of them. `views` in `app/shell/shell.tsx` sets their order. */
export const consoleFeatures = [
  "deliveries",
  "endpoints",
  "inbox",
  "send",
  "webhooks",
  "repositories",
  "events",
  "jobs",
  "logs",
  "tunnel",
] as const;
export type ConsoleFeature = (typeof consoleFeatures)[number];

/** The features of a receiver. A dev session forwards their requests to its server. */
export const serverFeatures = ["deliveries", "endpoints", "inbox"] as const satisfies readonly ConsoleFeature[];

/** The body of `POST /api/session`: the console token, or the code of a one-time sign-in link. */
export const signInRequest = z.union([
  z.strictObject({ token: z.string().check(z.maxLength(1_000)) }),
  z.strictObject({ code: z.string().check(z.maxLength(200)) }),
]);
export type SignInRequest = z.infer<typeof signInRequest>;

/** The ways to sign in that a console offers. */
export interface SignInMethods {
  /** Whether a console token is set, so that the page shows a form for it. */
  token: boolean;
  /** The command or place that prints a one-time link. */
  linkFrom: "dev" | "hub" | "log";
}

/** The answer of `GET /api/session`. */
export type SessionInfo =
  | { signedIn: false; place: ConsolePlace; methods: SignInMethods }
  | {
      signedIn: true;
      place: ConsolePlace;
      features: readonly ConsoleFeature[];
      /** Send this value in the `X-CSRF-Token` header of each request that changes something. */
      csrfToken: string;
      version: string;
    };

/** The answer of the API to a request that failed. Each error of the API has this shape. */
export interface ApiError {
  error: string;
  /** A stable code, such as `DELIVERY_UNKNOWN`. `SIGN_IN_REQUIRED` shows the sign-in page. */
  code: string;
  /** The invalid fields of an edited payload. */
  fields?: readonly FieldProblem[];
}

export interface FieldProblem {
  /** The keys from the root of the payload, such as `["repo", "type"]`. Empty for the payload itself. */
  path: readonly (string | number)[];
  problem: string;
}

/** A message of `GET /api/stream`, the Server-Sent Events of the console. */
export type StreamMessage =
  /** Deliveries that are new or have changed. */
  | { type: "deliveries"; deliveries: readonly DeliverySummary[] }
  /** The data of these features has changed; load it again if it is shown. */
  | { type: "changed"; features: readonly ConsoleFeature[] }
  | { type: "logs"; lines: readonly LogLine[] }
  | { type: "dev"; dev: DevInfo };

/** The levels of log lines. `output`: a line that is not from the logger. */
export type LogLevel = "debug" | "info" | "warn" | "error" | "output";

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
