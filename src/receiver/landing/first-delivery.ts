import { quoteShellWord } from "../../core/escape.ts";
import { webhookPayload } from "../../payload/samples.ts";
import { isKnownScope } from "../../payload/schema.ts";
import type { LandingInfo } from "./info.ts";

/** The maximum line length of the command in characters, so that the page displays it without line breaks. */
const longestLine = 72;

/**
 * Returns a shell command that sends a small sample delivery to the first endpoint, or `undefined` without endpoints. The
 * command reads the secret from the shell variable `WEBHOOK_SECRET`.
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

/** Formats JSON with each value that fits on one line. */
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
