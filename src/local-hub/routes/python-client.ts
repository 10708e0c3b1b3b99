import type { MiddlewareHandler } from "hono";
import * as z from "zod";
import { parseDomain, webhookDomains } from "../../payload/watch.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import type { ApiEnvironment } from "./api.ts";

/** What Python's client sends for a webhook, as far as it differs from what the API takes. */
const sentWebhook = z.looseObject({
  watched: z.array(z.unknown()).optional(),
  domains: z.array(z.unknown()).optional(),
});

/**
 * Completes the webhooks that Python's client sends (`hf webhooks`, `HfApi`): it leaves out `domains`, says
 * `discussions`, and updates with an empty `watched`. The Hub's API forbids all three, so every other client gets 400;
 * whether the Hub itself makes an exception is not published. The answer carries a warning, which that client prints.
 */
export function completeForPythonClient(
  find: (webhookId: string) => StoredWebhook | undefined,
): MiddlewareHandler<ApiEnvironment> {
  return async (context, next) => {
    const isPythonClient = /\bhf_hub\//.test(context.req.header("user-agent") ?? "");
    if (context.req.method !== "POST" || !isPythonClient) return next();
    const text = await context.req.raw.clone().text();
    const sent = sentWebhook.safeParse(parseJson(text));
    if (!sent.success) return next();

    const before = find(context.req.param("webhookId") ?? "")?.definition;
    const { body, notes } = complete(sent.data, before);
    if (notes.length === 0) return next();
    context.req.raw = new Request(context.req.raw, { body: JSON.stringify(body) });
    await next();
    if (context.res.ok) {
      context.res.headers.set(
        "x-hf-warning",
        `webhooks; The Hub's published API forbids this request: ${notes.join("; ")}.`,
      );
    }
  };
}

function complete(sent: z.output<typeof sentWebhook>, before: StoredWebhook["definition"] | undefined) {
  const body = { ...sent };
  const notes: string[] = [];
  if (before && sent.watched?.length === 0) {
    body.watched = before.watched;
    notes.push('"watched" is empty, and the local Hub kept what there was (give --watch)');
  }
  if (sent.domains === undefined) {
    body.domains = [...(before?.domains ?? webhookDomains)];
    notes.push(`"domains" is missing, and the local Hub took ${body.domains.join(" and ")} (give --domain)`);
  } else if (sent.domains.includes("discussions")) {
    body.domains = sent.domains.map((domain) => parseDomain(String(domain)) ?? domain);
    notes.push('"discussions" is no domain, and the local Hub took discussion');
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
