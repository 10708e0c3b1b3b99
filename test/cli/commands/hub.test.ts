import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { findSessionHub } from "../../../src/dev/session-file.ts";
import { HubClient } from "../../../src/hub/client.ts";
import { ConsoleClient } from "../../local-hub/support/console-client.ts";
import { freePort } from "../../support/free-port.ts";
import { listen } from "../../support/listen.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { binPath, type CommandProcess, startCommand } from "../command-process.ts";
import { runCommand, runTrigger } from "../run-command.ts";

/** Returns the URL in the first line that a local Hub prints with `--format json`. */
async function addressOf(command: CommandProcess): Promise<string> {
  await command.says("\n");
  const { event, url, port, consoleUrl } = JSON.parse(command.stdout);
  expect(event).toBe("ready");
  expect(url).toBe(`http://127.0.0.1:${port}`);
  expect(consoleUrl).toMatch(new RegExp(`^${url}/_console/#/sign-in/[0-9a-f]{32}$`));
  return url;
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

/** Returns the links in an output, oldest first. */
function findConsoleLinks(output: string): string[] {
  return output.match(/http:\/\/127\.0\.0\.1:\d+\/_console\/#\/sign-in\/[0-9a-f]{32}/g) ?? [];
}

describe("hub-webhooks hub", () => {
  test("serves until it is stopped", async () => {
    const stop = Promise.withResolvers<void>();
    const ready = Promise.withResolvers<string>();
    const running = runCommand("hub --port 0 --format quiet", {
      stopped: stop.promise,
      onOutput: ready.resolve,
    });
    const url = (await ready.promise).trim();
    const client = new HubClient({ hubUrl: url, token: "hf_local", attempts: 1 });
    expect(await client.webhooks.list()).toEqual([]);
    stop.resolve();
    expect(await running).toMatchObject({ exitCode: 0, stdout: `${url}\n` });
    await expect(client.webhooks.list()).rejects.toMatchObject({ code: "HUB_UNREACHABLE" });
  });

  test("creates a bucket, and prints the variables for an inbox in it", async () => {
    const stop = Promise.withResolvers<void>();
    const ready = Promise.withResolvers<string>();
    const running = runCommand("hub --port 0 --bucket me/inbox", {
      stopped: stop.promise,
      onOutput: ready.resolve,
    });
    const output = await ready.promise;
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? [];
    const variables = Object.fromEntries(
      [...output.matchAll(/^ {2}([A-Z_\d]+)=(\S+)$/gm)].map(([, name, value]) => [name, value]),
    );
    expect(variables).toEqual({
      INBOX_URL: "hf://buckets/me/inbox",
      AWS_ENDPOINT_URL_S3: `${url}/s3/me`,
      AWS_ACCESS_KEY_ID: expect.stringMatching(/^HFAK[\dA-F]{16}$/),
      AWS_SECRET_ACCESS_KEY: expect.stringMatching(/^\S{40}$/),
    });
    stop.resolve();
    await running;
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
    const stop = Promise.withResolvers<void>();
    const ready = Promise.withResolvers<string>();
    const running = runCommand("hub --port 0 --format quiet", {
      stopped: stop.promise,
      onOutput: ready.resolve,
    });
    const url = (await ready.promise).trim();
    const { stderr } = await runTrigger("dataset:me/data --dry-run");
    expect(stderr).toContain(`The local Hub at ${url} has no webhooks`);
    stop.resolve();
    await running;
    expect(findSessionHub(process.cwd())).toBeUndefined();
  });

  test("prints a link to its console first, then its address, its tokens and an example command", async () => {
    const command = startCommand(["hub", "--port", "0"], { LOG_LEVEL: "silent" });
    await command.says("Press Ctrl+C to stop.");
    const [, url] = /^Local Hub: (http:\/\/127\.0\.0\.1:\d+)$/m.exec(command.stdout) ?? [];
    expect(command.stdout).toMatch(new RegExp(`^Console: ${url}/_console/#/sign-in/[0-9a-f]{32}\n`));
    for (const token of ["hf_local", "hf_read", "hf_other"])
      expect(command.stdout).toMatch(new RegExp(`^ {2}${token} `, "m"));

    const [, endpoint = "", token = "", copied = ""] =
      /HF_ENDPOINT=(\S+) HF_TOKEN=(\S+) npx hub-webhooks (create .*)$/m.exec(command.stdout) ?? [];
    const created = await startCommand(copied.split(" "), { HF_ENDPOINT: endpoint, HF_TOKEN: token }).ended;
    expect(created).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/^note: The webhook has no secret.*\n$/),
    });
  });

  test("prints a new link to its console after a link was used", async () => {
    const command = startCommand(["hub", "--port", "0"]);
    await command.says("Press Ctrl+C to stop.");
    const [used = ""] = findConsoleLinks(command.stdout);
    await ConsoleClient.signIn(used);
    await command.says("Sign in again with this link.");
    const [, next = ""] = findConsoleLinks(command.stdout);
    expect(next).not.toBe(used);
    expect((await (await ConsoleClient.signIn(next)).get("webhooks")).status).toBe(200);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("closes cleanly at %s", async (signal) => {
    const command = startCommand(["hub", "--port", "0", "--format", "json"]);
    await addressOf(command);
    command.signal(signal);
    expect(await command.ended).toEqual({
      exitCode: 0,
      signal: null,
      stdout: expect.stringMatching(/^\{"event":"ready".*\}\n$/),
      stderr: "Stopping the local Hub. Press Ctrl+C again to exit immediately.\n",
    });
  });

  test.each([
    ["prints each delivery", [], /"msg":"delivery failed"|"msg":"delivered"/],
    ["keeps its output for what was asked for, as JSON", ["--format", "json"], /^\{"event":"ready".*\}\n$/],
    ["keeps its output for what was asked for, when quiet", ["--format", "quiet"], /^http:\S+\n$/],
  ])("%s", async (_name, format, output) => {
    const command = startCommand(["hub", "--port", "0", ...format]);
    await command.says(/http:\S+\d"?.*\n/);
    const [url = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(command.stdout) ?? [];
    await watchData(url, "http://127.0.0.1:1/");
    const answer = await pushToData(url);
    expect(await answer.json()).toMatchObject({ deliveries: [{ webhookId: expect.any(String) }] });
    command.signal("SIGTERM");
    const { exitCode, stdout } = await command.ended;
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(output);
  });

  test("exits immediately at the second signal, also during a delivery", async () => {
    const received = Promise.withResolvers<void>();
    const receiver = await listen(createServer(() => received.resolve()));
    const command = startCommand(["hub", "--port", "0", "--format", "json"]);
    const url = await addressOf(command);
    await watchData(url, receiver.url);
    // The response never arrives, because the receiver does not respond.
    pushToData(url).catch(() => {});
    await received.promise;
    command.signal("SIGINT");
    await command.says("Press Ctrl+C again to exit immediately.");
    command.signal("SIGINT");
    const { exitCode, signal } = await command.ended;
    expect([exitCode, signal]).not.toEqual([0, null]);
  });

  test("reports a port in use in one line", async () => {
    const port = (await listen(createServer())).port;
    const { exitCode, stdout, stderr } = await runCommand(["hub", "--port", String(port), "--format", "json"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(new RegExp(`^error: Port ${port} is in use.*choose another port with --port.*\n$`));
  });

  test("reports an unusable file in one line", async () => {
    const argv = ["hub", "--port", "0", "--format", "json", "--state", join(binPath, "hub.sqlite")];
    const { exitCode, stdout, stderr } = await runCommand(argv);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^error: .*\n$/);
  });

  test("keeps its webhooks in the given file", async () => {
    const folder = createFolder();
    const argv = ["hub", "--port", "0", "--format", "json", "--state", join(folder, "hub.sqlite")];

    const first = startCommand(argv);
    const { id } = await watchData(await addressOf(first), "http://127.0.0.1:1/");
    first.signal("SIGTERM");
    await first.ended;

    const second = startCommand(argv);
    const listed = await new HubClient({ hubUrl: await addressOf(second), token: "hf_local" }).webhooks.list();
    expect(listed).toMatchObject([{ id }]);
  });
});
