import { describe, expect, test } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

describe("The addresses on the landing page of a launched server", () => {
  async function pageAskedFor(headers: Record<string, string>): Promise<{ page: string; url: string }> {
    await using server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("retrain", () => "done");
    const { url } = await server.launch({ port: 0, host: "127.0.0.1", ownsProcess: false });
    const response = await fetch(`${url}/`, { headers });
    return { page: await response.text(), url };
  }

  test("are those by which the reader came", async () => {
    const { page, url } = await pageAskedFor({});
    expect(page).toContain(`${url}/webhooks/`);
  });

  test("have the scheme of a proxy that ended TLS in front", async () => {
    const { page, url } = await pageAskedFor({ "x-forwarded-proto": "https" });
    expect(page).toContain(`${url.replace("http:", "https:")}/webhooks/`);
  });

  test("take no other scheme than HTTP's from a stranger", async () => {
    const { page, url } = await pageAskedFor({ "x-forwarded-proto": "javascript" });
    expect(page).not.toContain("javascript:");
    expect(page).toContain(`${url}/webhooks/`);
  });
});
