import { quoteShellWord } from "../../core/escape.ts";
import { webhookPayload } from "../../payload/samples.ts";
import { isKnownScope } from "../../payload/schema.ts";
import type { LandingInfo } from "./info.ts";

/** In characters; about what the page shows without breaking a line. */
const longestLine = 72;

/**
 * A command for the shell that sends a small, made-up delivery to the first endpoint; `undefined` while there is none.
 * The secret is left to the shell's own `WEBHOOK_SECRET`.
 */
export function firstDeliveryCommand({ endpoints, secretIsSet }: LandingInfo): string | undefined {
  const endpoint = endpoints[0];
  if (!endpoint) return undefined;
  const payload = webhookPayload(endpoint.scopes.find(isKnownScope) ?? "repo.content");
  return [
    `curl ${quoteShellWord(endpoint.url)}`,
    `--header "Content-Type: application/json"`,
    ...(secretIsSet ? [`--header "X-Webhook-Secret: $WEBHOOK_SECRET"`] : []),
    `--data ${quoteShellWord(writeJson(payload))}`,
  ].join(" \\\n  ");
}

/** JSON in which what fits on a line is not spread over several. */
function writeJson(value: unknown, indent = ""): string {
  const line = JSON.stringify(value, null, 1).replaceAll(/\n */g, " ");
  if (typeof value !== "object" || value === null || indent.length + line.length <= longestLine) return line;
  const deeper = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((item) => deeper + writeJson(item, deeper))
    : Object.entries(value).map(([key, item]) => `${deeper}"${key}": ${writeJson(item, deeper)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}
