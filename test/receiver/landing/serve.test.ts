import { describe, expect, test } from "vitest";
import { WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

describe("The URLs on the landing page of a launched server", () => {
  async function pageAskedFor(
    headers: Record<string, string>,
    options: WebhooksServerOptions = {},
  ): Promise<{ page: string; url: string }> {
    await using server = new WebhooksServer({ logger: createMemoryLogger(), ...options });
    server.webhook("retrain", () => "done");
    const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
    const response = await fetch(`${url}/`, { headers });
    return { page: await response.text(), url };
  }

  test("start with the address that the browser requested", async () => {
    const { page, url } = await pageAskedFor({});
    expect(page).toContain(`${url}/webhooks/`);
  });

  test("have the scheme of a trusted proxy that terminates TLS", async () => {
    const { page, url } = await pageAskedFor({ "x-forwarded-proto": "https" }, { trustProxy: true });
    expect(page).toContain(`${url.replace("http:", "https:")}/webhooks/`);
  });

  test("ignore forwarding headers, which any client can send", async () => {
    const { page, url } = await pageAskedFor({
      "x-forwarded-proto": "https",
      "x-forwarded-host": "evil.example",
      "x-forwarded-prefix": "/evil",
    });
    expect(page).not.toContain("evil");
    expect(page).toContain(`${url}/webhooks/`);
  });
});
