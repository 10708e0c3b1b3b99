import { describe, expect, test } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

/** Posts text from a page of another site to an endpoint that accepts any body. */
function post(options: { secret: string | false }, headers: Record<string, string> = {}): Promise<Response> {
  const server = new WebhooksServer({ ...options, logger: createMemoryLogger() });
  server.webhook("any", { schema: null }, () => {});
  return server.request("/webhooks/any", {
    method: "POST",
    headers: { "content-type": "text/plain", "sec-fetch-site": "cross-site", ...headers },
    body: "{}",
  });
}

describe("A page of another site", () => {
  test("is refused by an endpoint for any body without a secret", async () => {
    const response = await post({ secret: false });
    expect([response.status, await response.json()]).toMatchObject([403, { code: "CROSS_SITE_REFUSED" }]);
  });

  test("is accepted with the secret, which no other site has", async () => {
    const secret = "Planted-5ecret-of-the-server";
    expect((await post({ secret }, { "x-webhook-secret": secret })).status).toBe(200);
  });
});
