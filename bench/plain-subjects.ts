import { Child } from "./child.ts";
import { secret } from "./delivery.ts";

/** The servers whose start and memory are measured. */
export const plainSubjects = [
  { name: "hub-webhooks", file: "plain-ours.js" },
  { name: "Hono, zod, pino", file: "plain-hono.js" },
  { name: "node:http", file: "plain-node-http.js" },
] as const;

export const plainYardstick = "Hono, zod, pino";

/** Starts a server on all cores, as in production. `exposeCollector` enables it to collect garbage on request. */
export function startPlain(file: string, { exposeCollector = false } = {}): Child {
  process.env.WEBHOOK_SECRET = secret;
  return new Child({ file: `subjects/${file}`, nodeOptions: exposeCollector ? ["--expose-gc"] : [] });
}
