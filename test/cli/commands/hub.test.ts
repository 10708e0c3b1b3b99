// @module-tag slow

import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { findSessionHub } from "../../../src/dev/session-file.ts";
import { HubClient } from "../../../src/hub/client.ts";
import { ConsoleClient } from "../../local-hub/support/console-client.ts";
import { freePort } from "../../support/free-port.ts";
import { listen } from "../../support/listen.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { binPath, startCommand } from "../command-process.ts";
import { runCommand, runTrigger } from "../run-command.ts";

/** Runs `hub` in this process on a free port until it is stopped or the test ends. */
async function startHub(words: string) {
  const stopping = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<string>();
  const ended = runCommand(`hub --port 0 ${words}`, { stopped: stopping.promise, onOutput: ready.resolve });
  const stop = () => {
    stopping.resolve();
    return ended;
  };
  onTestFinished(async () => void (await stop()));
  const output = await ready.promise;
  return { output, url: urlIn(output), stop };
}

/** Returns the first URL of a local Hub in an output. */
function urlIn(output: string): string {
  return /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0] ?? "";
}

/** Returns the links in an output, oldest first. */
function findConsoleLinks(output: string): string[] {
  return output.match(/http:\/\/127\.0\.0\.1:\d+\/_console\/#\/sign-in\/[0-9a-f]{32}/g) ?? [];
}

/** Creates a webhook that watches `me/data`. */
function watchData(endpoint: string, url: string): Promise<{ id: string }> {
  const client = new HubClient({ hubUrl: endpoint, token: "hf_local" });
  return client.webhooks.create({ url, watched: [{ type: "dataset", name: "me/data" }], domains: ["repo"] });
}

/** Pushes to `me/data`. Resolves when all resulting deliveries are done. */
function pushToData(endpoint: string): Promise<Response> {
  const event = { repo: { type: "dataset", name: "me/data" }, event: { scope: "repo.content", action: "update" } };
  return fetch(`${endpoint}/_local/events?wait=true`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer hf_local" },
    body: JSON.stringify(event),
  });
}

describe("hub-webhooks hub", () => {
  test("serves until it is stopped", async () => {
    const { url, stop } = await startHub("--format quiet");
    const client = new HubClient({ hubUrl: url, token: "hf_local", attempts: 1 });
    expect(await client.webhooks.list()).toEqual([]);
    expect(await stop()).toMatchObject({ exitCode: 0, stdout: `${url}\n` });
    await expect(client.webhooks.list()).rejects.toMatchObject({ code: "HUB_UNREACHABLE" });
  });

  test("creates a bucket, and prints the variables for an inbox in it", async () => {
    const { output, url } = await startHub("--bucket me/inbox");
    const variables = [...output.matchAll(/^ {2}([A-Z_\d]+)=(\S+)$/gm)].map(([, name, value]) => [name, value]);
    expect(Object.fromEntries(variables)).toEqual({
      INBOX_URL: "hf://buckets/me/inbox",
      AWS_ENDPOINT_URL_S3: `${url}/s3/me`,
      AWS_ACCESS_KEY_ID: expect.stringMatching(/^HFAK[\dA-F]{16}$/),
      AWS_SECRET_ACCESS_KEY: expect.stringMatching(/^\S{40}$/),
    });
  });

  test("closes and exits if the name of the bucket is invalid", async () => {
    const port = await freePort();
    const { exitCode, stderr } = await runCommand(`hub --port ${port} --bucket me/a/b`);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain('"me/a/b"');
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
  });

  test("is found by trigger in the same folder, on any port", async () => {
    vi.stubEnv("TMPDIR", createFolder());
    const { url, stop } = await startHub("--format quiet");
    const { stderr } = await runTrigger("dataset:me/data --dry-run");
    expect(stderr).toContain(`The local Hub at ${url} has no webhooks`);
    await stop();
    expect(findSessionHub(process.cwd())).toBeUndefined();
  });

  test("keeps its webhooks in the given file", async () => {
    const words = `--format json --state ${join(createFolder(), "hub.sqlite")}`;
    const first = await startHub(words);
    const { id } = await watchData(first.url, "http://127.0.0.1:1/");
    await first.stop();
    const second = await startHub(words);
    expect(JSON.parse(second.output)).toEqual({
      ...{ event: "ready", url: second.url, port: Number(new URL(second.url).port) },
      consoleUrl: expect.stringMatching(new RegExp(`^${second.url}/_console/#/sign-in/[0-9a-f]{32}$`)),
    });
    expect(await new HubClient({ hubUrl: second.url, token: "hf_local" }).webhooks.list()).toMatchObject([{ id }]);
  });

  test("reports a port in use, or an unusable file, in one line", async () => {
    const { port } = await listen(createServer());
    for (const [words, expected] of [
      [`--port ${port}`, `Port ${port} is in use.*choose another port with --port.*`],
      [`--port 0 --state ${join(binPath, "hub.sqlite")}`, ".*"],
    ]) {
      const stderr = expect.stringMatching(new RegExp(`^error: ${expected}\n$`));
      expect(await runCommand(`hub ${words} --format json`)).toEqual({ exitCode: 1, stdout: "", stderr });
    }
  });
});

describe("The process of hub-webhooks hub", () => {
  test("prints links to its console, its tokens, an example command, and deliveries", async () => {
    const command = startCommand(["hub", "--port", "0"]);
    await command.says("Press Ctrl+C to stop.");
    const [, url = ""] = /^Local Hub: (http:\/\/127\.0\.0\.1:\d+)$/m.exec(command.stdout) ?? [];
    expect(command.stdout).toMatch(new RegExp(`^Console: ${url}/_console/#/sign-in/[0-9a-f]{32}\n`));
    for (const token of ["hf_local", "hf_read", "hf_other"])
      expect(command.stdout).toMatch(new RegExp(`^ {2}${token} `, "m"));

    const [, endpoint = "", token = "", copied = ""] =
      /HF_ENDPOINT=(\S+) HF_TOKEN=(\S+) npx hub-webhooks (create .*)$/m.exec(command.stdout) ?? [];
    expect(await runCommand(`${copied} --hub-url ${endpoint} --token ${token}`)).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/^note: The webhook has no secret.*\n$/),
    });

    // A used link is replaced.
    const [used = ""] = findConsoleLinks(command.stdout);
    await ConsoleClient.signIn(used);
    await command.says("Sign in again with this link.");
    const [, next = ""] = findConsoleLinks(command.stdout);
    expect(next).not.toBe(used);
    expect((await (await ConsoleClient.signIn(next)).get("webhooks")).status).toBe(200);

    await watchData(url, "http://127.0.0.1:1/");
    await pushToData(url);
    await command.says('"msg":"delivery failed"');
  });

  test("prints only what was requested with --format json, and closes cleanly at SIGTERM", async () => {
    const command = startCommand(["hub", "--port", "0", "--format", "json"]);
    await command.says("\n");
    const url = urlIn(command.stdout);
    await watchData(url, "http://127.0.0.1:1/");
    const answer = await pushToData(url);
    expect(await answer.json()).toMatchObject({ deliveries: [{ webhookId: expect.any(String) }] });
    command.signal("SIGTERM");
    expect(await command.ended).toEqual({
      exitCode: 0,
      signal: null,
      stdout: expect.stringMatching(/^\{"event":"ready".*\}\n$/),
      stderr: "Stopping the local Hub. Press Ctrl+C again to exit immediately.\n",
    });
  });

  test("exits immediately at the second signal, also during a delivery", async () => {
    const received = Promise.withResolvers<void>();
    const receiver = await listen(createServer(() => received.resolve()));
    const command = startCommand(["hub", "--port", "0", "--format", "quiet"]);
    await command.says("\n");
    const url = urlIn(command.stdout);
    await watchData(url, receiver.url);
    // The response never arrives, because the receiver does not respond.
    pushToData(url).catch(() => {});
    await received.promise;
    command.signal("SIGINT");
    await command.says("Press Ctrl+C again to exit immediately.");
    command.signal("SIGINT");
    const { exitCode, signal, stdout } = await command.ended;
    expect([exitCode, signal]).not.toEqual([0, null]);
    expect(stdout).toBe(`${url}\n`);
  });
});
