import * as z from "zod";
import { watchedTypes, webhookDomains } from "../payload/watch.ts";

/** What a server's file says of its server, as it goes from process to process. */
export const serverDescription = z.object({
  endpoints: z.array(
    z.object({
      name: z.string(),
      /** What its webhook is to watch; empty where the file does not say. */
      watch: z.array(z.object({ type: z.enum(watchedTypes), name: z.string() })).readonly(),
      domains: z.array(z.enum(webhookDomains)).readonly(),
      /** Its filter of repositories, as it is written. */
      repos: z.array(z.string()).readonly(),
      scopes: z.array(z.string()).readonly(),
      background: z.boolean(),
      /** What looks like a slip in its options. The file's copy of the package may be older, and not tell it. */
      doubts: z.array(z.string()).readonly().default([]),
    }),
  ),
  /** The first secret that the server asks for. */
  secret: z.string().optional(),
});
export type ServerDescription = z.output<typeof serverDescription>;
