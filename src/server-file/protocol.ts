/** The messages between `server-process-handle.ts` and `server-process.ts`, the child process that runs a server file. */
import * as z from "zod";
import { watchedTypes, webhookDomains } from "../payload/watch.ts";

/** A server's endpoints and secret, as its file defines them. */
export const serverDescription = z.object({
  endpoints: z.array(
    z.object({
      name: z.string(),
      /** What its webhook watches; empty when the file does not configure it. */
      watch: z.array(z.object({ type: z.enum(watchedTypes), name: z.string() })).readonly(),
      domains: z.array(z.enum(webhookDomains)).readonly(),
      /** Its repository filter, as written. */
      repos: z.array(z.string()).readonly(),
      scopes: z.array(z.string()).readonly(),
      background: z.boolean(),
      /** Likely mistakes in its options. An older copy of the package does not send them. */
      warnings: z.array(z.string()).readonly().default([]),
    }),
  ),
  /** The first secret that the server accepts. */
  secret: z.string().optional(),
});
export type ServerDescription = z.output<typeof serverDescription>;

const launchedServer = z.object({ port: z.number(), url: z.string(), publicUrl: z.string() });

/** A message to the child: `describe` or `serve` first, later `publicUrl` and `stop`. */
const command = z.discriminatedUnion("command", [
  z.object({ command: z.literal("describe"), path: z.string(), launched: launchedServer }),
  z.object({
    command: z.literal("serve"),
    path: z.string(),
    launched: launchedServer,
    secret: z.object({ text: z.string(), use: z.enum(["instead", "besides", "where-open"]) }).optional(),
    /** URL of the inbox; overrides the file's own. */
    inbox: z.string().optional(),
  }),
  z.object({ command: z.literal("publicUrl"), publicUrl: z.string() }),
  z.object({ command: z.literal("stop") }),
]);
export type Command = z.output<typeof command>;

/** Parses a message to the child; `undefined` for any other message. */
export function parseCommand(message: unknown): Command | undefined {
  return command.safeParse(message).data;
}

/** A message from the child. User code in the child may send other messages, which are ignored. */
const report = z.discriminatedUnion("report", [
  z.object({ report: z.literal("loading"), path: z.string() }),
  z.object({ report: z.literal("described"), description: serverDescription }),
  z.object({ report: z.literal("serving"), port: z.number(), description: serverDescription }),
  /** The reason is one line. The stack, if present, contains only the frames of the user's own files. */
  z.object({ report: z.literal("failed"), reason: z.string(), stack: z.string().optional() }),
]);
export type Report = z.output<typeof report>;

/** Parses a message from the child; `undefined` for any other message. */
export function parseReport(message: unknown): Report | undefined {
  return report.safeParse(message).data;
}
