import * as z from "zod";
import { serverDescription } from "./description.ts";

const launchedServer = z.object({ port: z.number(), url: z.string(), publicUrl: z.string() });

/** What the process of a server's file is told: once what to do, and later where it is reached now. */
export const order = z.discriminatedUnion("order", [
  z.object({ order: z.literal("describe"), path: z.string(), reachedAt: launchedServer }),
  z.object({
    order: z.literal("serve"),
    path: z.string(),
    reachedAt: launchedServer,
    secret: z.object({ text: z.string(), use: z.enum(["instead", "besides", "where-open"]) }).optional(),
    /** URL of the inbox, in place of the one that the file names. */
    inbox: z.string().optional(),
  }),
  z.object({ order: z.literal("reachedAt"), publicUrl: z.string() }),
  z.object({ order: z.literal("stop") }),
]);
export type Order = z.output<typeof order>;

/** What it tells. User code runs in that process and may send messages of its own, which are none of these. */
export const report = z.discriminatedUnion("report", [
  z.object({ report: z.literal("loading"), path: z.string() }),
  z.object({ report: z.literal("described"), description: serverDescription }),
  z.object({ report: z.literal("serving"), port: z.number(), description: serverDescription }),
  /** The reason in one line. The stack, where there is one, has only the lines of the user's own files. */
  z.object({ report: z.literal("failed"), reason: z.string(), stack: z.string().optional() }),
]);
export type Report = z.output<typeof report>;
