import { readFileSync } from "node:fs";
import * as z from "zod";

const body = z.record(z.string(), z.unknown());

/** The bodies of a fixture file, each with the name that tells what it is; written from the text of hub-api.md. */
export function readBodies(
  file: "jobs" | "least-bodies" | "webhook-requests" | "webhooks",
): [name: string, body: JsonObject][] {
  const text = readFileSync(new URL(`fixtures/${file}.json`, import.meta.url), "utf8");
  return Object.entries(z.record(z.string(), body).parse(JSON.parse(text)));
}

/** An object of JSON, of which nothing is known yet. */
export type JsonObject = Record<string, unknown>;
