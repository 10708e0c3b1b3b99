import type { MiddlewareHandler } from "hono";
import * as z from "zod";
import { parseDomain, webhookDomains } from "../../payload/watch.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import type { ApiEnvironment } from "./authentication.ts";

/** The webhook fields in which requests from the Python client differ from the Hub's specification. */
const requestedWebhook = z.looseObject({
  watched: z.array(z.unknown()).optional(),
  domains: z.array(z.unknown()).optional(),
});

/**
 * Corrects requests from the Python client (`hf webhooks`, `HfApi`). The Python client omits `domains`, sends the domain
 * `discussions`, and updates webhooks with an empty `watched`. The Hub's specification does not allow such requests, so other
 * clients get 400. The response contains a warning, which the Python client prints.
 */
export function completeForPythonClient(
  find: (webhookId: string) => StoredWebhook | undefined,
): MiddlewareHandler<ApiEnvironment> {
  return async (context, next) => {
    const isPythonClient = /\bhf_hub\//.test(context.req.header("user-agent") ?? "");
    if (context.req.method !== "POST" || !isPythonClient) return next();
    const text = await context.req.raw.clone().text();
    const sent = requestedWebhook.safeParse(parseJson(text));
    if (!sent.success) return next();

    const before = find(context.req.param("webhookId") ?? "")?.definition;
    const { body, notes } = complete(sent.data, before);
    if (notes.length === 0) return next();
    context.req.raw = new Request(context.req.raw, { body: JSON.stringify(body) });
    await next();
    if (context.res.ok) {
      context.res.headers.set(
        "x-hf-warning",
        `webhooks; The Hub's published API does not allow this request: ${notes.join("; ")}.`,
      );
    }
  };
}

function complete(sent: z.output<typeof requestedWebhook>, before: StoredWebhook["definition"] | undefined) {
  const body = { ...sent };
  const notes: string[] = [];
  if (before && sent.watched?.length === 0) {
    body.watched = before.watched;
    notes.push('"watched" is empty, so the local Hub kept the current value (pass --watch)');
  }
  if (sent.domains === undefined) {
    body.domains = [...(before?.domains ?? webhookDomains)];
    notes.push(`"domains" is missing, so the local Hub used ${body.domains.join(" and ")} (pass --domain)`);
  } else if (sent.domains.includes("discussions")) {
    body.domains = sent.domains.map((domain) => parseDomain(String(domain)) ?? domain);
    notes.push('"discussions" is not a domain, so the local Hub used "discussion"');
  }
  return { body, notes };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
