import { createServer } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { LocalHub } from "../../src/local-hub/local-hub.ts";
import { watchedTypes } from "../../src/payload/watch.ts";
import { listen } from "../support/listen.ts";
import { runCommand } from "./run-command.ts";
import { idOf } from "./stand-in-hub.ts";

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

  test("enables a suspended webhook with the suggested command", async () => {
    const hub = await startLocalHub();
    const receiver = await startReceiver();
    const id = await createWebhook(hub, "--url", receiver.url, "--watch", "dataset:me/data");
    receiver.status = 500;
    await hub.push({ type: "dataset", name: "me/data" });

    const { stdout, stderr } = await runCommand("list", { hub });
    expect(stdout).toContain("\tsuspended\t");
    const [, remedy = ""] = /hub-webhooks (enable \S+)/.exec(stderr) ?? [];
    expect(await runCommand(remedy.split(" "), { hub })).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await showWebhook(hub, id)).toMatchObject({ disabled: false });
  });

  test("replays a delivery, and fails until the receiver accepts it", async () => {
    const hub = await startLocalHub();
    const receiver = await startReceiver();
    const id = await createWebhook(hub, "--url", receiver.url, "--watch", "dataset:me/data");
    receiver.status = 500;
    const [delivery] = await hub.push({ type: "dataset", name: "me/data" });
    const argv = ["replay", id, delivery?.logId ?? "", "--format", "quiet"];
    expect(await runCommand(argv, { hub })).toMatchObject({ exitCode: 1, stdout: "500\n" });
    receiver.status = 202;
    expect(await runCommand(argv, { hub })).toMatchObject({ exitCode: 0, stdout: "202\n", stderr: "" });
  });

  test("creates a webhook that runs a job, and shows its secrets by name", async () => {
    const hub = await startLocalHub();
    const job = { flavor: "cpu-basic", spaceId: "me/space", secrets: { API_KEY: "correct horse" }, attempts: 2 };
    const argv = ["create", "--job", "-", "--watch", "dataset:me/data", "--format", "json"];
    const { stdout } = await runCommand(argv, { hub, input: JSON.stringify(job) });
    expect(JSON.parse(stdout)).toMatchObject({ job: { spaceId: "me/space", secrets: ["API_KEY"] } });
    expect(stdout).not.toContain("horse");
  });

  test("watches items of every type", async () => {
    const hub = await startLocalHub();
    const watched = watchedTypes.map((type) => ({ type, name: "acme" }));
    const watch = watched.map(({ type, name }) => `${type}:${name}`);
    const id = await createWebhook(hub, "--url", "http://127.0.0.1:1/", "--watch", ...watch);
    expect(await showWebhook(hub, id)).toMatchObject({ watched });
  });

  test.each([
    ["an unknown token", "list --token hf_nobody", /401/],
    ["a token that may only read", "create --url http://127.0.0.1:1/ --watch org:acme --token hf_read", /403/],
    ["an unknown webhook", `enable ${idOf(1)} --token hf_local`, /404/],
    ["an unknown webhook to delete", `delete ${idOf(1)} -y --token hf_local`, /404/],
    ["an unknown delivery", `replay ${idOf(1)} none --token hf_local`, /404/],
  ])("fails in one line for %s", async (_name, words, expected) => {
    const hub = await startLocalHub();
    const { exitCode, stdout, stderr } = await runCommand(`${words} --hub-url ${hub.url}`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(expected);
    expect(stderr).toMatch(/^error: .*\n$/);
    // The local Hub lists its valid tokens, which are not secret, but not the rejected one.
    expect(stderr).not.toContain("hf_nobody");
  });
});
