import { createServer } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { LocalHub } from "../../src/local-hub/local-hub.ts";
import { listen } from "../support/listen.ts";
import { runCommand } from "./run-command.ts";

/** Starts a local Hub that suspends webhooks after one failed attempt, and closes it after the test. */
async function startLocalHub(): Promise<LocalHub> {
  const hub = await LocalHub.launch({ attempts: 1, suspendAfter: 1, backoff: 1 });
  onTestFinished(() => hub.close());
  return hub;
}

/** Starts a receiver that responds with its current `status`. */
async function startReceiver(): Promise<{ url: string; status: number; secrets: unknown[] }> {
  const receiver: { url: string; status: number; secrets: unknown[] } = { url: "", status: 200, secrets: [] };
  const server = createServer((request, response) => {
    receiver.secrets.push(request.headers["x-webhook-secret"]);
    request.resume().on("end", () => response.writeHead(receiver.status).end());
  });
  receiver.url = `${(await listen(server)).url}/hook`;
  return receiver;
}

/** Creates a webhook with the command line and returns its ID. */
async function createWebhook(hub: LocalHub, ...argv: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCommand(["create", ...argv, "--format", "quiet"], { hub });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: expect.stringMatching(/^(note: The webhook has no secret.*\n)?$/),
  });
  return stdout.trim();
}

async function showWebhook(hub: LocalHub, id: string): Promise<Record<string, unknown>> {
  const { stdout } = await runCommand(`info ${id} --format json`, { hub });
  return JSON.parse(stdout);
}

describe("The command line against a local Hub", () => {
  test("manages a webhook from its creation to its deletion", async () => {
    const hub = await startLocalHub();
    const receiver = await startReceiver();
    const id = await createWebhook(hub, "--url", receiver.url, "--watch", "dataset:me/data", "--secret", "horse");
    expect(await showWebhook(hub, id)).toMatchObject({ id, url: receiver.url, disabled: false, secretIsSet: true });

    await runCommand(`update ${id} --domain repo`, { hub });
    expect(await showWebhook(hub, id)).toMatchObject({ domains: ["repo"], secretIsSet: true });
    expect(await hub.push({ type: "dataset", name: "me/data" })).toMatchObject([{ webhookId: id, status: 200 }]);
    expect(receiver.secrets).toEqual(["horse"]);

    await runCommand(`update ${id} --no-secret`, { hub });
    expect(await showWebhook(hub, id)).toMatchObject({ secretIsSet: false, lastTriggerAt: expect.any(String) });

    await runCommand(`disable ${id}`, { hub });
    expect(await showWebhook(hub, id)).toMatchObject({ disabled: true });
    expect(await hub.push({ type: "dataset", name: "me/data" })).toEqual([]);

    await runCommand(`enable ${id}`, { hub });
    expect(await showWebhook(hub, id)).toMatchObject({ disabled: false });

    expect(await runCommand(`delete ${id} --yes`, { hub })).toMatchObject({ exitCode: 0 });
    expect(await runCommand(`info ${id}`, { hub })).toMatchObject({ exitCode: 1, stdout: "" });
  });
});
