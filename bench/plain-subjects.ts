import { Child } from "./child.ts";
import { secret } from "./delivery.ts";

/** The servers of which start and memory are measured. */
export const plainSubjects = [
  { name: "hub-webhooks", file: "plain-ours.js" },
  { name: "Hono, zod, pino", file: "plain-hono.js" },
  { name: "node:http", file: "plain-node-http.js" },
] as const;

export const plainYardstick = "Hono, zod, pino";

/** Starts one on all cores, as it would run; `exposeCollector` lets it collect garbage when it is asked to. */
export function startPlain(file: string, { exposeCollector = false } = {}): Child {
  process.env.WEBHOOK_SECRET = secret;
  return new Child({ file: `subjects/${file}`, nodeOptions: exposeCollector ? ["--expose-gc"] : [] });
}
