import { describe, expect, onTestFinished, test } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";

function openServer() {
  const server = new WebhooksServer({ secret: false, inbox: `sqlite:${inboxFile()}`, logger: createMemoryLogger() });
  onTestFinished(() => server.close());
  const runs: string[] = [];
  server.webhook("retrain", { background: true }, (_payload, { delivery }) => void runs.push(delivery.id));
  const send = (id: string) =>
    server.fetch(deliveryRequest({ endpoint: "retrain", payload: webhookPayload("repo.content"), id }));
  return { server, send, runs };
}

describe("The inbox of a server", () => {
  test("pauses an endpoint, discards a delivery, and resumes the endpoint", async () => {
    const { server, send, runs } = openServer();
    await server.inbox.pause("retrain");
    for (const id of ["a", "b"]) expect((await send(id)).status).toBe(202);
    expect(await server.inbox.pausedEndpoints()).toEqual(["retrain"]);
    await server.inbox.discard("a");
    expect(await server.inbox.get("a")).toMatchObject({ status: "cancelled" });
    await server.inbox.resume("retrain");
    await waitFor(async () => expect(await server.inbox.get("b")).toMatchObject({ status: "succeeded" }));
    expect(runs).toEqual(["b"]);
    expect(await server.inbox.counts()).toMatchObject({ retrain: { succeeded: 1, cancelled: 1 } });
  });

  test("rejects discarding an unknown delivery", async () => {
    const { server } = openServer();
    await expect(server.inbox.discard("unknown")).rejects.toMatchObject({ code: "DELIVERY_UNKNOWN", status: 404 });
  });

  test("filters deliveries", async () => {
    const { server, send } = openServer();
    for (const id of ["first", "second"]) await send(id);
    const { scope, action } = webhookPayload("repo.content").event;
    const ids = async (options: Parameters<typeof server.inbox.list>[0]) =>
      (await server.inbox.list(options)).deliveries.map(({ id }) => id);
    expect(await ids({ scope, action })).toEqual(["second", "first"]);
    expect(await ids({ search: "fir" })).toEqual(["first"]);
    expect(await ids({ scope: "discussion" })).toEqual([]);
  });
});
