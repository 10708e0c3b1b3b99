import { describe, expect, onTestFinished, test, vi } from "vitest";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { WebhooksServer } from "../../../src/index.ts";
import { landingPage } from "../../../src/receiver/landing/landing-page.ts";
import type { LandingInfo } from "../../../src/receiver/options.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";
import { fullInfo, now, sampleHours, sampleInfo } from "./sample-info.ts";

/** Returns the facts of a page as an object of names and values. */
function factsIn(html: string): Record<string, string> {
  const facts = [...html.matchAll(/<div><dt>(.*?)<\/dt><dd>(.*?)<\/dd><\/div>/g)];
  return Object.fromEntries(facts.map(([, name = "", value = ""]) => [name, value.replaceAll(/<[^>]*>/g, "")]));
}

async function factsOf(changes: Partial<LandingInfo>): Promise<Record<string, string>> {
  return factsIn(await landingPage(sampleInfo(changes), now).text());
}

describe("The facts", () => {
  test("name each number", async () => {
    expect(await factsOf(fullInfo)).toEqual({
      Secret: "not set",
      "Deliveries in 24 h": "855",
      "Failed deliveries in 24 h": "43",
      "Handler time p50 / p95": "12 ms / 1.8 s",
      Queued: "1,204",
      Running: "4",
      Dead: "3",
    });
  });

  test.each([
    [{ p50: 0.4, p95: 999.4 }, "under 1 ms / 999 ms"],
    [{ p50: 1, p95: 1_830 }, "1 ms / 1.8 s"],
    [{ p50: 95_000, p95: 150_000 }, "95.0 s / 2.5 min"],
    [{ p50: 3_600_000, p95: 36_000_000 }, "60.0 min / 10.0 h"],
  ])("show the handler time %j as %s", async (time, shown) => {
    const activity = { hours: sampleHours(1), handlerTime: { ...time, runs: 3 } };
    expect(await factsOf({ activity })).toMatchObject({ "Handler time p50 / p95": shown });
  });

  test("omit the handler time before the first run, and the queue without an inbox", async () => {
    expect(Object.keys(await factsOf({}))).toEqual(["Secret", "Deliveries in 24 h", "Failed deliveries in 24 h"]);
  });

  test("contain only the secret without an endpoint", async () => {
    expect(await factsOf({ endpoints: [] })).toEqual({ Secret: "set" });
  });
});

describe("The facts of a server", () => {
  const secret = "s3cret";

  async function openServer(attempts: number, handler: (attempt: number) => unknown) {
    vi.stubEnv("INBOX_URL", `sqlite:${inboxFile()}`);
    let now = Date.UTC(2026, 8, 1, 12);
    const server = new WebhooksServer({ logger: createMemoryLogger(), secret, now: () => now });
    onTestFinished(() => server.close());
    server.webhook("inline", { action: "update" }, ({ event }) => {
      if (event.scope === "repo.config") throw new Error("failed");
    });
    server.webhook("background", { background: true, attempts, backoff: { first: 1 } }, (_payload, { delivery }) =>
      handler(delivery.attempt),
    );
    await server.ready();
    const page = async () => {
      // The counts of the inbox are read once a second.
      now += 1_001;
      return (await server.request("/")).text();
    };
    const send = (endpoint: string, id: string, payload: unknown = webhookPayload("repo.content")) =>
      server.fetch(deliveryRequest({ endpoint, payload, secret, id }));
    return { page, send };
  }

  test("count each delivery once, however many attempts it needs", async () => {
    const { page, send } = await openServer(3, (attempt) => {
      if (attempt < 3) throw new Error("not yet");
    });
    await send("background", "a");
    await waitFor(async () => expect(await page()).toContain("succeeded <b>1</b>"));
    const counted = {
      "Deliveries in 24 h": "1",
      "Failed deliveries in 24 h": "0",
      Queued: "0",
      Running: "0",
      Dead: "0",
    };
    await waitFor(async () => expect(factsIn(await page())).toMatchObject(counted));
    expect(await page()).toContain("Failed attempts with a retry in 24 h: <b>2</b>");
  });

  test("count failed and dead deliveries, but no ignored, refused, or duplicate ones", async () => {
    const { page, send } = await openServer(2, () => {
      throw new Error("no GPU");
    });
    await send("inline", "a");
    await send("inline", "b", webhookPayload("repo.config"));
    await send("inline", "c", webhookPayload("repo"));
    await send("background", "d");
    await send("background", "d");
    await send("none", "e");
    await waitFor(async () => expect(factsIn(await page())).toMatchObject({ Dead: "1" }));
    expect(factsIn(await page())).toMatchObject({
      "Deliveries in 24 h": "4",
      "Failed deliveries in 24 h": "2",
      Queued: "0",
      Running: "0",
    });
  });

  test("show that the inbox does not respond", async () => {
    const counts = vi.spyOn(SqliteInbox.prototype, "counts").mockRejectedValue(new Error("the disk is gone"));
    onTestFinished(() => counts.mockRestore());
    const { page } = await openServer(1, () => {});
    expect(factsIn(await page())).toMatchObject({ Inbox: "not responding" });
    expect(counts).toHaveBeenCalled();
  });
});
