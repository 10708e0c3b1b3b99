// @module-tag slow

import { expect, test } from "vitest";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { openInbox } from "../../inbox/sqlite/open-inbox.ts";
import { startLocaltunnelServer } from "../../support/localtunnel-server.ts";
import { startReceiverProcess } from "../../support/receiver-process.ts";
import { waitFor } from "../../support/wait-for.ts";

test("A server that cannot be closed logs why at a signal, and exits with 1", async () => {
  const child = startReceiverProcess(new URL("unclosable-process.ts", import.meta.url), {});
  await child.says(/^The server is ready/);
  child.signal("SIGTERM");
  expect(await child.exited).toEqual({ code: 1, signal: null });
  expect(child.lines).toContainEqual(
    expect.objectContaining({ level: "error", err: expect.objectContaining({ message: "The disk is gone." }) }),
  );
});

test("A signal that interrupts a background handler logs how many deliveries will run again, and exits with 0", async () => {
  const child = startReceiverProcess(new URL("endless-handler-process.ts", import.meta.url), {});
  await child.says(/^handler started/);
  child.signal("SIGTERM");
  expect(await child.exited).toEqual({ code: 0, signal: null });
  expect(child.lines).toContainEqual(expect.objectContaining({ level: "warn", interrupted: 1 }));
});

test("A signal while the tunnel opens requeues the running deliveries, and exits with 0 before launch() resolves", async () => {
  await using host = await startLocaltunnelServer({ mode: "silent" });
  const file = inboxFile();
  const script = new URL("opening-tunnel-process.ts", import.meta.url);
  const child = startReceiverProcess(script, { INBOX_FILE: file, TUNNEL_HOST: host.url });
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
