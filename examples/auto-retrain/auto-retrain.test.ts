import { HubClient } from "hub-webhooks/client";
import { LocalHub } from "hub-webhooks/local-hub";
import { settled } from "hub-webhooks/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createServer, type StartJob } from "./server.ts";

vi.stubEnv("LOG_LEVEL", "silent");

const data = { type: "dataset", name: "acme/data" } as const;
const newSha = "575db8b7a51b6f85eb06eee540738584589f131c";
const startJob = vi.fn<StartJob>();
const secret = "s3cret";
const server = createServer(startJob, { secret });

let hub: LocalHub;
let client: HubClient;
let url: string;

beforeAll(async () => {
  hub = await LocalHub.launch();
  client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
  const launched = await server.launch({ port: 0, host: "127.0.0.1" });
  url = `${launched.url}/webhooks/auto_retrain`;
  await client.webhooks.create({ url, watched: [{ type: "org", name: "acme" }], domains: ["repo"], secret });
});
afterAll(() => Promise.all([hub.close(), server.close()]));
beforeEach(() => void startJob.mockReset().mockResolvedValue("job-1"));

function pushTo(ref: string, sha: string | null = newSha) {
  return hub.push(data, { updatedRefs: [{ ref, oldSha: null, newSha: sha }] });
}

describe("auto-retrain", () => {
  test("starts a job on the commit that was pushed to the main branch of a dataset", async () => {
    const [delivery] = await pushTo("refs/heads/main");
    await settled(server);
    expect(delivery?.status).toBe(202);
    expect(startJob.mock.calls).toEqual([[{ dataset: "acme/data", revision: newSha }, expect.anything()]]);
  });

  test.each([
    ["a pull request", () => pushTo("refs/pr/1")],
    ["the conversion to Parquet", () => pushTo("refs/convert/parquet")],
    ["another branch", () => pushTo("refs/heads/dev")],
    ["a model", () => hub.push({ type: "model", name: "acme/net" })],
    ["a change of settings", () => hub.trigger({ repo: data, event: { scope: "repo.config", action: "update" } })],
    ["a new repository", () => hub.trigger({ repo: data, event: { scope: "repo", action: "create" } })],
  ])("ignores %s", async (_event, send) => {
    const [delivery] = await send();
    expect(delivery?.status).toBe(200);
    expect(delivery?.answer).toContain("ignored");
    expect(startJob).not.toHaveBeenCalled();
  });

  test("skips a deleted main branch", async () => {
    const [delivery] = await pushTo("refs/heads/main", null);
    await settled(server);
    expect(delivery?.status).toBe(202);
    expect(startJob).not.toHaveBeenCalled();
  });

  test("starts one job when the Hub sends a delivery again", async () => {
    const [delivery] = await hub.push(data);
    await settled(server);
    await client.webhooks.replay(delivery?.webhookId ?? "", delivery?.logId ?? "");
    const [again] = hub.deliveries(delivery?.webhookId ?? "");
    await settled(server);
    expect(again?.response?.body).toContain('"duplicate":true');
    expect(startJob).toHaveBeenCalledOnce();
  });

  test("starts one job when two webhooks deliver the same push", async () => {
    const second = await client.webhooks.create({ url, watched: [data], domains: ["repo"], secret });
    const deliveries = await hub.push(data);
    await settled(server);
    await client.webhooks.delete(second.id);
    expect(deliveries.map(({ status }) => status)).toEqual([202, 202]);
    expect(startJob).toHaveBeenCalledOnce();
  });

  test("retries a job that could not be started", async () => {
    startJob.mockRejectedValueOnce(new Error("no capacity"));
    const [delivery] = await hub.push(data);
    await settled(server);
    expect(startJob).toHaveBeenCalledTimes(2);
    const stored = await server.inbox.get(delivery?.deliveryId ?? "");
    expect(stored?.attempts.map(({ outcome }) => outcome)).toEqual(["failed", "succeeded"]);
  });

  test("starts jobs one at a time", async () => {
    const first = Promise.withResolvers<string>();
    startJob.mockReturnValueOnce(first.promise);
    await hub.push(data);
    await vi.waitFor(() => expect(startJob).toHaveBeenCalledOnce(), { interval: 2, timeout: 10_000 });
    await hub.push({ type: "dataset", name: "acme/more" });
    // Another round trip, in which the second one could start.
    await hub.push({ type: "model", name: "acme/net" });
    expect((await server.inbox.counts()).auto_retrain).toMatchObject({ running: 1, queued: 1 });
    first.resolve("job-1");
    await settled(server);
    expect(startJob).toHaveBeenCalledTimes(2);
  });
});
