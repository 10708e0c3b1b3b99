// @module-tag slow

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { deliveryRequest, webhookPayload } from "../../src/testing.ts";
import { processEnvironment } from "../support/program.ts";

const entry = new URL("../../src/index.ts", import.meta.url).href;

let folder: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "webhook-endpoint-"));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

interface Script {
  child: ChildProcess;
  /** The exit code and signal, after all output has been read. */
  ended: Promise<unknown[]>;
  /** Waits for the first log line whose message contains this text. */
  logged(part: string): Promise<Record<string, unknown>>;
  /** The complete output of the script. */
  output(): string;
}

/** Runs a script file with plain Node, as a user would. */
async function runScript(
  name: string,
  lines: readonly string[],
  environment: Record<string, string> = {},
): Promise<Script> {
  const path = join(folder, `${name}.mjs`);
  await writeFile(path, [`import { webhookEndpoint } from ${JSON.stringify(entry)};`, ...lines].join("\n"));
  const child = spawn(process.execPath, [path], {
    env: { ...processEnvironment, PORT: "0", ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const written: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => written.push(line));
  return {
    child,
    ended: once(child, "close"),
    async logged(part) {
      for (;;) {
        const line = written.find((text) => text.includes(part));
        if (line !== undefined) return JSON.parse(line);
        await Promise.race([
          once(reader, "line"),
          once(reader, "close").then(() => {
            throw new Error(`The script ended without a word of ${JSON.stringify(part)}:\n${written.join("\n")}`);
          }),
        ]);
      }
    },
    output: () => written.join("\n"),
  };
}

/** Returns the URL that the script logs. */
async function addressOf(script: Script): Promise<string> {
  const { endpoints } = await script.logged("The server is ready");
  const [, address] = /POST (http:\/\/127\.0\.0\.1:\d+)\/webhooks\//.exec(String(endpoints)) ?? [];
  if (address === undefined) throw new Error(`No address is named: ${String(endpoints)}`);
  return address;
}

describe("webhookEndpoint", () => {
  test("launches a server at the end of the script, and exits with 0 on SIGTERM", async () => {
    const script = await runScript(
      "launched",
      [
        "webhookEndpoint(async function trigger_training(payload) { return { trained: payload.repo.name }; });",
        "webhookEndpoint('acme/late', () => 'late');",
        "await null;",
      ],
      { WEBHOOK_SECRET: "s3cret" },
    );
    const baseUrl = await addressOf(script);
    const deliver = (endpoint: string, secret: string) =>
      fetch(deliveryRequest({ endpoint, payload: webhookPayload("repo"), secret, baseUrl }));

    expect(await (await deliver("trigger_training", "s3cret")).json()).toEqual({ trained: "acme/data" });
    expect(await (await deliver("acme/late", "s3cret")).json()).toBe("late");
    expect((await deliver("acme/late", "other")).status).toBe(403);

    script.child.kill("SIGTERM");
    expect(await script.ended).toEqual([0, null]);
    expect(script.output()).not.toContain("s3cret");
  });

  test("launches nothing for a call without a handler, and warns about it", async () => {
    const script = await runScript("forgotten", ["webhookEndpoint('retrain', { scope: 'repo' });"], {
      WEBHOOK_SECRET: "s3cret",
    });
    expect(await script.ended).toEqual([0, null]);
    expect(await script.logged("has no handler")).toMatchObject({
      level: 40,
      msg: expect.stringContaining('webhook("retrain", { scope })'),
    });
    expect(script.output()).not.toContain("The server is ready");
  });

  test("launches nothing if the script exits", async () => {
    const script = await runScript("ended", ["webhookEndpoint(function on_change() {});", "process.exit(3);"]);
    expect(await script.ended).toEqual([3, null]);
    expect(script.output()).toBe("");
  });

  test("logs in one line why it cannot listen, and exits with 1", async () => {
    const script = await runScript("refused", ["webhookEndpoint(function on_change() {});"], { PORT: "seven" });
    expect(await script.ended).toEqual([1, null]);
    const lines = script
      .output()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.filter(({ level }) => level === 50)).toEqual([
      expect.objectContaining({ code: "OPTION_INVALID", msg: 'PORT is "seven". Use an integer from 0 to 65535.' }),
    ]);
  });
});
