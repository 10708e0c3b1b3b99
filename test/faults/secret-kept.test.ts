import { describe, expect, test } from "vitest";
import { startCommand } from "../cli/command-process.ts";
import { inboxFile } from "../inbox/inbox-file.ts";
import { requestBytes } from "../support/raw-socket.ts";
import { errorsWithSecret, holdsSecret } from "../support/secrets.ts";
import { createFaultyProcess } from "./faulty-process.ts";
import { packageEnvironment } from "./on-built-package.ts";
import { openReceiver, secret } from "./receiver.ts";
import { countRows } from "./rows.ts";

countRows("secret-kept");

const invalid = { status: 403, code: "SECRET_INVALID", logged: { code: "SECRET_INVALID", status: 403 } } as const;

describe("The secret itself", () => {
  test("S8: stays out of the log when a handler logs the request", async () => {
    const receiver = await openReceiver({
      secretInQuery: true,
      declare: (server) =>
        server.webhook("chatty", (_payload, { request, log }) => {
          log.info({ url: request?.url, headers: [...(request?.headers ?? [])] }, "got it");
        }),
    });
    await receiver.survives(() => receiver.post({ path: `/webhooks/chatty?secret=${secret}` }), {
      status: 200,
      logged: { msg: "delivery succeeded" },
    });
  });

  test("S8: stays out of the response when a handler returns the request", async () => {
    const receiver = await openReceiver({
      secretInQuery: true,
      declare: (server) =>
        server.webhook("echo", (_payload, { request }) => ({
          url: request?.url,
          headers: [...(request?.headers ?? [])],
        })),
    });
    const answer = await receiver.survives(() => receiver.post({ path: `/webhooks/echo?secret=${secret}&page=2` }), {
      status: 200,
      logged: { msg: "delivery succeeded" },
    });
    expect(answer?.text).toContain("page=2");
    expect(answer?.text).toContain("webhook-id");
  });

  test("S8: stays out of the log when the configured secret is not valid in a header", async () => {
    const receiver = await openReceiver({ secret: [secret, ` ${secret}-with-spaces `, `${secret}-with-\x7f`] });
    expect(receiver.log.filter(({ level }) => level === "warn")).toHaveLength(2);
    await receiver.survives(() => receiver.post({ headers: { "X-Webhook-Secret": "another" } }), invalid);
  });
});

describe("An error of a handler that contains a secret", () => {
  const thrown = Object.entries(errorsWithSecret(secret)).map(([where, error]) => ({ where, error }));

  test("S10: is redacted in the log, the inbox, the console and the command line", async () => {
    const INBOX_URL = `sqlite:${inboxFile()}`;
    const { child, receiver } = await createFaultyProcess({ INBOX_URL, CONSOLE_TOKEN: "Planted-0wner-token" });
    for (const [index, { where }] of thrown.entries()) {
      const send = (endpoint: string, id: string) =>
        receiver.post({ path: `/webhooks/${endpoint}`, headers: { "Webhook-Id": id }, body: where });
      expect((await send("leaks-secret", `inline-${index}`)).status).toBe(500);
      expect((await send("leaks-secret-later", `later-${index}`)).status).toBe(202);
    }
    await child.says(/^delivery is dead/, thrown.length);
    const headers = {
      Host: new URL(receiver.url).host,
      Authorization: "Bearer Planted-0wner-token",
      Connection: "close",
    };
    const queries = thrown.flatMap((_thrown, index) => [
      `/one?endpoint=leaks-secret&id=inline-${index}`,
      `/one?endpoint=leaks-secret-later&id=later-${index}`,
    ]);
    const shown = await Promise.all(
      ["", ...queries].map((query) =>
        receiver.send(requestBytes({ method: "GET", path: `/_console/api/deliveries${query}`, headers })),
      ),
    );
    expect(new Set(shown.map(({ status }) => status))).toEqual(new Set([200]));
    await receiver.keepsSecret(...shown);
    expect(shown.some(({ text }) => text.includes("The API refused [redacted]."))).toBe(true);
    expect(holdsSecret([child.lines, child.errorOutput], secret)).toBe(false);
    expect(child.lines.filter(({ msg }) => msg === "The secret is [redacted].")).toHaveLength(thrown.length);

    const show = startCommand(["deliveries", "show", "later-0"], { ...packageEnvironment, INBOX_URL });
    const { exitCode, stdout, stderr } = await show.ended;
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("The API refused [redacted].");
    expect(holdsSecret([stdout], secret)).toBe(false);
    expect((await receiver.post()).status).toBe(200);
  });
});
