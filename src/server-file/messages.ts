/** The messages between `server-process.ts` and `server-process-child.ts`, the child process that runs a server file. */
import * as z from "zod";
import { watchedTypes, webhookDomains } from "../payload/watch.ts";
import type { ServerControl, ServerDescription } from "../receiver/control.ts";
import type { LaunchedServer } from "../receiver/options.ts";

const serverDescription = z.object({
  endpoints: z.array(
    z.object({
      name: z.string(),
      watch: z.array(z.object({ type: z.enum(watchedTypes), name: z.string() })).readonly(),
      domains: z.array(z.enum(webhookDomains)).readonly(),
      repos: z.array(z.string()).readonly(),
      scopes: z.array(z.string()).readonly(),
      background: z.boolean(),
      // An older copy of this package in the user's project does not send these.
      actions: z.array(z.string()).readonly().default([]),
      refs: z.array(z.string()).readonly().default([]),
      paths: z.array(z.string()).readonly().default([]),
      ignoreSelf: z.boolean().default(false),
      warnings: z.array(z.string()).readonly().default([]),
    }),
  ),
  secret: z.string().optional(),
}) satisfies z.ZodType<ServerDescription>;

const launchedServer = z.object({
  port: z.number(),
  url: z.string(),
  publicUrl: z.string(),
}) satisfies z.ZodType<LaunchedServer>;

const sessionSecret = z.object({
  text: z.string(),
  /**
   * `replace` replaces the server's secrets. `add` adds the secret to the server's secrets. `fallback` sets the secret
   * only if the server has none.
   */
  mode: z.enum(["replace", "add", "fallback"]),
});
/**
 * The temporary secret of a session. `resolveDevOptions` chooses the secret and its mode. The child process applies it with
 * `useSecret` of {@link ServerControl} and sends the resulting secret of the server back in its description. The session
 * uses that secret for its webhooks and stores it for `trigger`.
 */
export type SessionSecret = z.output<typeof sessionSecret>;

const command = z.discriminatedUnion("type", [
  z.object({ type: z.literal("describe"), path: z.string(), launchResult: launchedServer }),
  z.object({
    type: z.literal("serve"),
    path: z.string(),
    launchResult: launchedServer,
    secret: sessionSecret.optional(),
    /** The URL of the inbox. Overrides a URL in the server file, but not an `Inbox` object. */
    inbox: z.string().optional(),
    /** The token with which the parent process reads the API of the server's console. */
    consoleToken: z.string().optional(),
    /** The console of the previous process, as it reported it. */
    consoleSnapshot: z.unknown().optional(),
  }),
  z.object({ type: z.literal("publicUrl"), publicUrl: z.string() }),
  z.object({ type: z.literal("compare") }),
  z.object({ type: z.literal("stop") }),
]);
/** A message to the child process: `describe` or `serve` first, then `publicUrl`, `compare`, or `stop`. */
export type Command = z.output<typeof command>;

/** Parses a message to the child process. Returns `undefined` for any other value. */
export function parseCommand(message: unknown): Command | undefined {
  return command.safeParse(message).data;
}

const codeFrame = z.object({
  file: z.string(),
  line: z.number(),
  column: z.number(),
  lines: z.array(z.object({ number: z.number(), text: z.string(), isError: z.boolean() })).readonly(),
});

const report = z.discriminatedUnion("type", [
  z.object({ type: z.literal("loading"), path: z.string() }),
  z.object({ type: z.literal("described"), description: serverDescription }),
  z.object({ type: z.literal("serving"), port: z.number(), description: serverDescription }),
  /**
   * What the console shows and no inbox stores, before the process exits. The format is only known to the copy of this package in the
   * project.
   */
  z.object({ type: z.literal("consoleSnapshot"), snapshot: z.unknown() }),
  /** The reason is one line. The stack, if present, contains only frames from the user's own files. */
  z.object({
    type: z.literal("failed"),
    reason: z.string(),
    stack: z.string().optional(),
    frame: codeFrame.optional(),
  }),
]);
/** A message from the child process, as {@link parseReport} returns it. */
export type Report = z.output<typeof report>;
/** A message as the child process sends it, before defaults are applied. */
export type SentReport = z.input<typeof report>;

/**
 * Parses a message from the child process. Returns `undefined` for any other value, such as a message that user code
 * sends.
 */
export function parseReport(message: unknown): Report | undefined {
  return report.safeParse(message).data;
}
