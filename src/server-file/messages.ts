/** The messages between `server-process-handle.ts` and `server-process.ts`, the child process that runs a server file. */
import * as z from "zod";
import { watchedTypes, webhookDomains } from "../payload/watch.ts";
import type { LaunchedServer } from "../receiver/launch-options.ts";
import type { ServerDescription } from "../receiver/server-control.ts";

const serverDescription = z.object({
  endpoints: z.array(
    z.object({
      name: z.string(),
      watch: z.array(z.object({ type: z.enum(watchedTypes), name: z.string() })).readonly(),
      domains: z.array(z.enum(webhookDomains)).readonly(),
      repos: z.array(z.string()).readonly(),
      scopes: z.array(z.string()).readonly(),
      background: z.boolean(),
      // The user's project may have an older copy of the package, which does not send them.
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
  /** `instead`: replaces the server's secrets; `besides`: is accepted as well; `where-open`: only if it has none. */
  use: z.enum(["instead", "besides", "where-open"]),
});
/** A temporary secret. */
export type SessionSecret = z.output<typeof sessionSecret>;

const command = z.discriminatedUnion("command", [
  z.object({ command: z.literal("describe"), path: z.string(), launchResult: launchedServer }),
  z.object({
    command: z.literal("serve"),
    path: z.string(),
    launchResult: launchedServer,
    secret: sessionSecret.optional(),
    /** URL of the inbox; overrides the file's own. */
    inbox: z.string().optional(),
  }),
  z.object({ command: z.literal("publicUrl"), publicUrl: z.string() }),
  z.object({ command: z.literal("stop") }),
]);
/** A message to the child: first `describe` or `serve`, later where the server is reachable, or `stop`. */
export type Command = z.output<typeof command>;

/** Parses a message to the child. */
export function parseCommand(message: unknown): Command | undefined {
  return command.safeParse(message).data;
}

const report = z.discriminatedUnion("report", [
  z.object({ report: z.literal("loading"), path: z.string() }),
  z.object({ report: z.literal("described"), description: serverDescription }),
  z.object({ report: z.literal("serving"), port: z.number(), description: serverDescription }),
  /** The reason is one line. The stack, if present, contains only the frames of the user's own files. */
  z.object({ report: z.literal("failed"), reason: z.string(), stack: z.string().optional() }),
]);
/** A message from the child, as {@link parseReport} returns it. */
export type Report = z.output<typeof report>;
/** A message from the child, as it is sent. */
export type SentReport = z.input<typeof report>;

/** Parses a message from the child. User code runs there and may send messages of its own, which match none of these. */
export function parseReport(message: unknown): Report | undefined {
  return report.safeParse(message).data;
}
