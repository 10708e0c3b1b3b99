import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { recordKey, recordNumber, recordPrefix } from "../../../../src/inbox/bucket/log.ts";
import type { Inbox } from "../../../../src/inbox/inbox.ts";
import { openInbox } from "../../../../src/inbox/open-inbox.ts";
import { LocalHub } from "../../../../src/local-hub.ts";
import { incoming } from "../../../inbox/engine.ts";
import { openTestBucket } from "../../../inbox/openers.ts";
import { createMemoryLogger } from "../../../support/memory-logger.ts";
import { runCommand } from "../../run-command.ts";

const hub = await LocalHub.launch();
afterAll(() => hub.close());
let buckets = 0;
let env: Record<string, string> = {};

beforeEach(() => {
  buckets += 1;
  env = { ...hub.createBucket(`local-user/inbox-${buckets}`), NO_COLOR: "1" };
});

/** Opens the inbox as a server does. */
function openAsServer(options: { takeOver?: boolean } = {}): Promise<Inbox> {
  const readVariable = (name: string) => env[name];
  return openInbox({ url: env.INBOX_URL, log: createMemoryLogger(), now: Date.now, readVariable, ...options });
}

describe("hub-webhooks deliveries with an inbox in a bucket", () => {
  test("lists, shows and counts deliveries while a server owns the inbox", async () => {
    const server = await openAsServer();
    await server.accept(incoming("a"));
    for (const command of [["list"], ["show", "a"], ["counts"]]) {
      const { exitCode, stdout, stderr } = await runCommand(["deliveries", ...command, "--format", "json"], { env });
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(stdout).toContain("retrain");
    }
    expect(await server.accept(incoming("b"))).toEqual({ duplicate: false });
    await server.close(0);
  });

  test("replays only if no server owns the inbox, or on request", async () => {
    const server = await openAsServer();
    await server.accept(incoming("a"));
    const refused = await runCommand(["deliveries", "replay", "a"], { env });
    expect({ exitCode: refused.exitCode, stdout: refused.stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(refused.stderr).toContain("--take-over");
    expect(await server.accept(incoming("b"))).toEqual({ duplicate: false });
    const { exitCode } = await runCommand(["deliveries", "replay", "a", "--take-over"], { env });
    expect(exitCode).toBe(0);
    await expect(server.accept(incoming("c"))).rejects.toMatchObject({ status: 503 });
    await server.close(0);
    expect((await runCommand(["deliveries", "replay", "b"], { env })).exitCode).toBe(0);
  });

  test("repairs damaged records", async () => {
    const server = await openAsServer();
    await server.accept(incoming("a"));
    await server.accept(incoming("b"));
    await server.close(0);
    const store = await openTestBucket(JSON.stringify(env));
    const numbers = (await store.list(recordPrefix)).map(({ key }) => recordNumber(key) ?? 0);
    const [, damaged = 0] = numbers;
    await store.put(recordKey(damaged), new TextEncoder().encode("torn"));
    // The commands pause before they read the record again.
    vi.spyOn(Object.getPrototypeOf(store), "wait").mockResolvedValue(undefined);
    const { exitCode, stdout } = await runCommand(["deliveries", "repair", "--format", "json"], { env });
    expect({ exitCode, repaired: JSON.parse(stdout) }).toEqual({
      exitCode: 0,
      repaired: [{ record: damaged, isReadable: false, recovered: 0 }],
    });
    const again = await runCommand(["deliveries", "repair"], { env });
    expect(again).toMatchObject({ exitCode: 0, stderr: "The inbox has no damaged records.\n" });
  });

  test("reports an empty bucket and other kinds of inboxes", async () => {
    const list = await runCommand(["deliveries", "list"], { env });
    expect(list).toMatchObject({ exitCode: 1, stdout: "" });
    expect(list.stderr).toContain(`There is no inbox at ${env.INBOX_URL}`);
    const repair = await runCommand(["deliveries", "repair", "--inbox", "sqlite:./none.db"], { env });
    expect(repair.stderr).toContain("Only an inbox in a bucket");
  });
});
