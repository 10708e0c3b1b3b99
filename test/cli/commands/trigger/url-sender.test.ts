import { once } from "node:events";
import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { parsePayload } from "../../../../src/index.ts";
import { secret } from "../../../local-hub/support/hub.ts";
import { openReceiver, openTarget } from "../../../local-hub/support/target.ts";
import { listen } from "../../../support/listen.ts";
import { runTrigger } from "../../run-command.ts";

describe("hub-webhooks trigger --url", () => {
  test("sends the Hub's headers with a new ID each time, and needs no Hub", async () => {
    const target = await openTarget();
    const words = `dataset:me/data --url ${target.url}`;
    expect(await runTrigger(words)).toMatchObject({ exitCode: 0, stderr: "" });
    const { stdout } = await runTrigger(`${words} --format quiet`, { env: { HF_ENDPOINT: "https://x.example" } });
    expect(target.requests).toHaveLength(2);
    for (const { line, headers, body } of target.requests) {
      expect(line).toBe("POST /hook");
      expect(headers).toMatchObject({ "content-type": "application/json", "webhook-id": expect.any(String) });
      expect(headers).not.toHaveProperty("x-webhook-secret");
      expect(parsePayload(JSON.parse(body)).repo.url.web).toBe("https://huggingface.co/datasets/me/data");
    }
    expect(new Set(target.ids).size).toBe(2);
    expect(stdout).toBe(`${target.ids[1]}\n`);
  });

  test.each([
    ["--secret", ["--secret", secret], {}, ""],
    ["--secret-stdin", ["--secret-stdin"], {}, `${secret}\n`],
    ["WEBHOOK_SECRET", [], { WEBHOOK_SECRET: secret }, ""],
    ["--secret before WEBHOOK_SECRET", ["--secret", secret], { WEBHOOK_SECRET: "another" }, ""],
  ])("uses the secret from %s, which a real receiver accepts", async (_name, argv, env, input) => {
    const receiver = await openReceiver((server) => void server.webhook("hook", () => `done with ${secret}`));
    const url = receiver.urlOf("hook");
    const { exitCode, stdout, stderr } = await runTrigger(["dataset:me/data", "--url", url, ...argv], { env, input });
    expect(stdout).toContain("done with ***");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).not.toContain(secret);
  });

  test.each([
    [{}, 401, "requires a secret. Set WEBHOOK_SECRET"],
    [{ WEBHOOK_SECRET: "another" }, 403, "rejected the secret"],
    [{ WEBHOOK_SECRET: "" }, 401, "requires a secret"],
  ])("prints a remedy if the receiver refuses the delivery: %j", async (env, status, expected) => {
    const receiver = await openReceiver((server) => void server.webhook("hook", () => "done"));
    const { exitCode, stdout, stderr } = await runTrigger(`dataset:me/data --url ${receiver.urlOf("hook")}`, { env });
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`\t${status}\t`);
    expect(stderr).toContain(expected);
  });

  test("closes its connections when it is done", async () => {
    const server = createServer({ keepAliveTimeout: 0 }, (_request, response) => response.end());
    const connected = once(server, "connection");
    const { url } = await listen(server);
    expect(await runTrigger(`dataset:me/data --url ${url}`)).toMatchObject({ exitCode: 0 });
    const [socket] = await connected;
    await expect.poll(() => socket.closed).toBe(true);
  });

  test("suggests checking the path after a 404", async () => {
    const target = await openTarget(404);
    const { stderr } = await runTrigger(`dataset:me/data --url ${target.url}`);
    expect(stderr).toContain("/webhooks/NAME");
  });

  test("fails after one attempt if nothing answers", async () => {
    const { exitCode, stdout, stderr } = await runTrigger("dataset:me/data --url http://127.0.0.1:1/");
    expect(exitCode).toBe(1);
    expect(stderr).toBe("No server listens at 127.0.0.1:1. Start the server, or fix --url.\n");
    expect(stdout).toMatch(/\t\t\d+\t1\t\w+\tconnect ECONNREFUSED/);
  });

  test("may use any address of this machine", async () => {
    const target = await openTarget();
    const url = target.url.replace("127.0.0.1", "0.0.0.0");
    expect(await runTrigger(`dataset:me/data --url ${url}`)).toMatchObject({ exitCode: 0 });
    expect(target.requests).toHaveLength(1);
  });

  test("may be on another machine, and is printed without its secrets", async () => {
    const url = `http://bot:${secret}@nobody.invalid/?secret=${secret}`;
    const { exitCode, stdout, stderr } = await runTrigger(`dataset:me/data --url ${url} --format json`);
    expect(exitCode).toBe(1);
    const error = expect.stringContaining("nobody.invalid");
    expect(JSON.parse(stdout).deliveries).toMatchObject([
      { url: "http://bot:***@nobody.invalid/?secret=***", status: null, error },
    ]);
    expect(stdout + stderr).not.toContain(secret);
  });

  test("shows the URL in a dry run", async () => {
    const target = await openTarget();
    const { exitCode, stderr } = await runTrigger(`model:me/net --url ${target.url}?token=x --dry-run`);
    expect(exitCode).toBe(0);
    expect(stderr).toBe(`Would be sent to ${target.url}?token=***.\n`);
    expect(target.requests).toEqual([]);
  });
});
