// @module-tag slow

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { openInbox } from "../../inbox/sqlite/open-inbox.ts";
import { startLocaltunnelServer } from "../../support/localtunnel-server.ts";
import { addressOf, startReceiverProcess } from "../../support/receiver-process.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { waitFor } from "../../support/wait-for.ts";

describe("A signal", () => {
  const start = (environment: Record<string, string>) =>
    startReceiverProcess(new URL("signal-process.ts", import.meta.url), environment);

  test("logs why a server cannot be closed, and exits with 1", async () => {
    const child = start({ UNCLOSABLE: "1" });
    await child.says("launched");
    child.signal("SIGTERM");
    expect(await child.exited).toEqual({ code: 1, signal: null });
    expect(child.lines).toContainEqual(
      expect.objectContaining({ level: "error", err: expect.objectContaining({ message: "The disk is gone." }) }),
    );
  });

  test("that interrupts a background handler logs how many deliveries will run again, and exits with 0", async () => {
    const child = start({});
    await child.says("handler started");
    await child.says("launched");
    child.signal("SIGTERM");
    expect(await child.exited).toEqual({ code: 0, signal: null });
    expect(child.lines).toContainEqual(expect.objectContaining({ level: "warn", interrupted: 1 }));
  });

  test("while the tunnel opens requeues the running deliveries, and exits with 0 before launch() resolves", async () => {
    await using host = await startLocaltunnelServer({ mode: "silent" });
    const file = inboxFile();
    const child = start({ INBOX_FILE: file, TUNNEL_HOST: host.url });
    await child.says("handler started");
    await waitFor(() => expect(host.registrations).toHaveLength(1));
    child.signal("SIGTERM");
    expect(await child.exited).toEqual({ code: 0, signal: null });
    expect(child.errorOutput).toBe("");
    expect(child.lines).toContainEqual(expect.objectContaining({ level: "warn", interrupted: 1 }));
    expect(child.lines.map(({ msg }) => msg)).not.toContain("launched");
    const { inbox } = openInbox({ file });
    expect(await inbox.get({ id: "a", endpoint: "retrain" })).toMatchObject({
      status: "queued",
      attempts: [{ outcome: "abandoned", error: { code: "CLOSING" } }],
    });
  });
});

describe("webhookEndpoint()", () => {
  const entry = new URL("../../../src/index.ts", import.meta.url).href;

  /** Runs a script file with plain Node, as a user would. */
  function runScript(lines: readonly string[], environment: Record<string, string> = {}) {
    const path = join(createFolder(), "script.mjs");
    writeFileSync(path, [`import { webhookEndpoint } from ${JSON.stringify(entry)};`, ...lines].join("\n"));
    return startReceiverProcess(path, { PORT: "0", WEBHOOK_SECRET: "s3cret", ...environment });
  }

  test("launches a server at the end of the script, and exits with 0 on SIGTERM", async () => {
    const script = runScript([
      "webhookEndpoint(async function trigger_training(payload) { return { trained: payload.repo.name }; });",
      "webhookEndpoint('acme/late', () => 'late');",
      "await null;",
    ]);
    const baseUrl = await addressOf(script);
    const deliver = (endpoint: string, secret: string) =>
      fetch(deliveryRequest({ endpoint, payload: webhookPayload("repo"), secret, baseUrl }));
    expect(await (await deliver("trigger_training", "s3cret")).json()).toEqual({ trained: "acme/data" });
    expect(await (await deliver("acme/late", "s3cret")).json()).toBe("late");
    expect((await deliver("acme/late", "other")).status).toBe(403);
    script.signal("SIGTERM");
    expect(await script.exited).toEqual({ code: 0, signal: null });
    expect(JSON.stringify(script.lines)).not.toContain("s3cret");
  });

  test("launches nothing for a call without a handler, and warns about it", async () => {
    const script = runScript(["webhookEndpoint('retrain', { scope: 'repo' });"]);
    expect(await script.exited).toEqual({ code: 0, signal: null });
    expect(script.lines).toContainEqual(
      expect.objectContaining({ level: "warn", msg: expect.stringContaining('webhook("retrain", { scope }) has no') }),
    );
    expect(script.lines.filter(({ msg }) => msg.startsWith("The server is ready"))).toEqual([]);
  });

  test("launches nothing if the script exits", async () => {
    const script = runScript(["webhookEndpoint(function on_change() {});", "process.exit(3);"]);
    expect(await script.exited).toEqual({ code: 3, signal: null });
    expect(script.lines).toEqual([]);
  });

  test("logs in one line why it cannot listen, and exits with 1", async () => {
    const script = runScript(["webhookEndpoint(function on_change() {});"], { PORT: "seven" });
    expect(await script.exited).toEqual({ code: 1, signal: null });
    expect(script.lines.filter(({ level }) => level === "error")).toEqual([
      expect.objectContaining({ code: "OPTION_INVALID", msg: 'PORT is "seven". Use an integer from 0 to 65535.' }),
    ]);
  });
});
