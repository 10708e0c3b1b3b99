import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { openTunnel } from "../../src/dev.ts";
import { deleteStaleWebhooks, TemporaryWebhooks } from "../../src/registration/temporary.ts";
import { openTestHub, secret, serverOf, type TestHub, urlOf } from "../registration/test-hub.ts";
import { startLocaltunnelServer } from "../support/localtunnel-server.ts";
import { holdsSecret } from "../support/secrets.ts";
import { packageEnvironment } from "./on-built-package.ts";
import { countRows, inOwnProcess } from "./rows.ts";

countRows("registration");

const script = fileURLToPath(new URL("../registration/session-process.ts", import.meta.url));

/** Runs a session in a separate process until it is killed, either by itself at a given step or by the test. */
async function killSession(testHub: TestHub, moment: "recorded" | "created" | "running"): Promise<string> {
  inOwnProcess();
  const child = spawn(process.execPath, [script], {
    env: { PATH: process.env.PATH, HUB: testHub.hub.url, STATE: testHub.state, DIE: moment, ...packageEnvironment },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (output.includes("synced")) child.kill("SIGKILL");
    });
  }
  const ended = once(child, "close");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  expect(await ended).toEqual([null, "SIGKILL"]);
  return output;
}

const retrain = { name: "retrain", watch: [{ type: "dataset", name: "me/data" }], domains: ["repo"] } as const;
const alive = { url: "http://127.0.0.1:9/alive", answer: "it lives" };

describe("A process that is killed while a webhook points at its tunnel", () => {
  test.each(["recorded", "created", "running"] as const)(
    "T6: when its webhook is %s: the next start deletes it and no webhook of the user",
    async (moment) => {
      const testHub = await openTestHub();
      const registered = serverOf({ kept: { watch: "org:acme" } });
      await testHub.register(registered);
      await testHub.create({ url: urlOf("by_hand"), secret: "theirs" });
      const before = await testHub.webhooks();

      const output = await killSession(testHub, moment);
      expect(await testHub.webhooks()).toHaveLength(before.length + (moment === "recorded" ? 0 : 1));
      const removed = await deleteStaleWebhooks({ client: testHub.client, state: testHub.state });
      expect(removed).toHaveLength(moment === "recorded" ? 0 : 1);
      expect(await testHub.webhooks()).toEqual(before);
      expect((await testHub.register(registered)).steps).toEqual([]);
      expect(holdsSecret([output, testHub.stateText(), removed], secret)).toBe(false);
    },
  );
});

describe("A tunnel that is lost and comes back at another address", () => {
  test("T2: has its webhooks updated, and enabled again if the Hub suspended them", async () => {
    const testHub = await openTestHub({ suspendAfter: 1 });
    const server = serverOf({ retrain: {} });
    const { port } = await server.launch({ port: 0, handleSignals: false });
    await using host = await startLocaltunnelServer();
    await using tunnel = await openTunnel({ port, host: host.url });
    const webhooks = await TemporaryWebhooks.open({
      client: testHub.client,
      state: testHub.state,
      session: { id: "it", alive },
    });
    const sync = () => webhooks.reconcile({ endpoints: [retrain], publicUrl: tunnel.url, secret });
    await sync();
    expect(await testHub.hub.push({ type: "dataset", name: "me/data" })).toMatchObject([{ status: 200 }]);

    const changed = Promise.withResolvers<void>();
    tunnel.on("urlChanged", () => changed.resolve());
    const before = tunnel.url;
    await host.crash();
    const [missed] = await testHub.hub.push({ type: "dataset", name: "me/data" });
    expect(missed?.status).not.toBe(200);
    expect(await testHub.webhooks()).toMatchObject([{ disabled: "suspended-after-failure" }]);
    host.giveNamesAway();
    host.comeBack();
    await changed.promise;

    const { done } = await sync();
    expect(done).toMatchObject([
      {
        action: "update",
        changes: [{ field: "url", before: `${before}/webhooks/retrain`, after: `${tunnel.url}/webhooks/retrain` }],
      },
      { action: "re-enable", reason: expect.any(String) },
    ]);
    expect(await testHub.hub.push({ type: "dataset", name: "me/data" })).toMatchObject([{ status: 200 }]);
    await webhooks.close();
    expect(await testHub.webhooks()).toEqual([]);
    expect(holdsSecret([done, testHub.stateText()], secret)).toBe(false);
  });
});
