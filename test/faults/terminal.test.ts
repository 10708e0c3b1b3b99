import { describe, expect, test } from "vitest";
import { webhookPayload } from "../../src/testing.ts";
import { startCommand } from "../cli/command-process.ts";
import { inboxFile } from "../inbox/inbox-file.ts";
import { holdsSecret } from "../support/secrets.ts";
import { startInboxReceiver } from "./inbox-receiver.ts";
import { packageEnvironment } from "./on-built-package.ts";
import { secret } from "./receiver.ts";
import { countRows } from "./rows.ts";

countRows("terminal");

/** Escape sequences that clear the screen, set the window title, reverse the text direction, and ring the bell. */
const hostile = "\u001b[2J\u001b]0;owned\u0007\u009b31m\u202ename\u0007";
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

describe("Escape codes in a payload", () => {
  test("U2: appear neither in the log nor in the output of the command line", async () => {
    const url = `sqlite:${inboxFile()}`;
    const receiver = await startInboxReceiver({ url });
    const payload = webhookPayload("discussion.comment", {
      event: { action: hostile },
      repo: { name: hostile, type: hostile },
      comment: { content: hostile },
    });
    const headers = { "Webhook-Id": "hostile" };
    const body = JSON.stringify(payload);
    expect((await receiver.post({ path: "/webhooks/target", headers, body })).status).toBe(202);
    receiver.ledger.acknowledge({ endpoint: "target", id: "hostile" });
    await receiver.stillWorks();
    await receiver.ledger.account("U2", "sqlite", { succeeded: 2 });

    for (const argv of [["list"], ["show", "hostile"]]) {
      const command = startCommand(["deliveries", "--inbox", url, ...argv], packageEnvironment);
      const { exitCode, stdout, stderr } = await command.ended;
      expect(exitCode, stderr).toBe(0);
      expect(stdout).toContain("hostile");
      expect(stdout + stderr).not.toMatch(obeyed);
      expect(holdsSecret([stdout, stderr], secret)).toBe(false);
    }
    // The stored body is unchanged.
    expect((await receiver.ledger.read([{ endpoint: "target", id: "hostile" }]))[0]?.body).toBe(body);
  });

  test("U2: stay out of the log of a receiver", async () => {
    const receiver = await startInboxReceiver({ url: `sqlite:${inboxFile()}` });
    const answer = await receiver.post({
      path: "/webhooks/target",
      body: JSON.stringify({ event: { scope: hostile, action: hostile }, [hostile]: hostile }),
    });
    expect(answer.status).toBe(422);
    expect(answer.text).not.toMatch(obeyed);
    await receiver.saysOnce({ level: "warn", code: "PAYLOAD_INVALID" });
    await receiver.stillWorks(answer);
  });
});
