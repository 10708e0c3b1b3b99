// @module-tag slow

import { expect, onTestFinished, test, vi } from "vitest";
import { openInbox } from "../../../src/inbox/open-inbox.ts";
import { WebhooksServer } from "../../../src/index.ts";
import { webhookPayload } from "../../../src/payload/samples.ts";
import { serverControl } from "../../../src/receiver/control.ts";
import { denied, FaultyS3 } from "../../support/faulty-s3.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";
import { incoming } from "../engine.ts";

test("a command retries an unavailable bucket until it is stopped", async () => {
  const variables: Record<string, string> = {
    AWS_ENDPOINT_URL_S3: "http://127.0.0.1:1",
    AWS_ACCESS_KEY_ID: "key",
    AWS_SECRET_ACCESS_KEY: "secret",
  };
  const log = createMemoryLogger();
  const stop = new AbortController();
  const opening = openInbox({
    url: "hf://buckets/me/inbox",
    log,
    now: Date.now,
    readVariable: (name) => variables[name],
    signal: stop.signal,
  });
  opening.catch(() => {});
  await waitFor(() => expect(log.lines).toMatchObject([{ level: "error", code: "INBOX_UNAVAILABLE" }]));
  stop.abort();
  await expect(opening).rejects.toMatchObject({ name: "AbortError" });
});

test("the inbox of a command that has started is not closed when the signal of the start is aborted", async () => {
  await using s3 = await FaultyS3.start();
  const variables = s3.variables();
  const start = new AbortController();
  const inbox = await openInbox({
    url: variables.INBOX_URL,
    log: createMemoryLogger(),
    now: Date.now,
    readVariable: (name) => variables[name],
    signal: start.signal,
  });
  const close = vi.spyOn(inbox, "close");
  start.abort();
  expect(close).not.toHaveBeenCalled();
  expect(await inbox.accept(incoming("a"))).toEqual({ duplicate: false });
  await inbox.close(0);
});

test("a command fails immediately if the bucket refuses its access key", async () => {
  await using s3 = await FaultyS3.start();
  const variables = s3.variables();
  s3.accessKeys.clear();
  const options = { log: createMemoryLogger(), now: Date.now, readVariable: (name: string) => variables[name] };
  await expect(openInbox({ url: variables.INBOX_URL, ...options })).rejects.toMatchObject({
    code: "INBOX_UNUSABLE",
    message: expect.stringContaining("AWS_ACCESS_KEY_ID"),
  });
});

test("a server does not start if the bucket does not support conditional writes, and does not end the process", async () => {
  await using s3 = await FaultyS3.start();
  s3.faults = [{ kind: "error", status: 501, code: "NotImplemented", operations: ["PUT"] }];
  for (const [name, value] of Object.entries(s3.variables())) vi.stubEnv(name, value);
  const logger = createMemoryLogger();
  await using server = new WebhooksServer({ inbox: s3.variables().INBOX_URL, secret: "s", logger });
  server.webhook("retrain", { background: true }, () => {});
  const exit = vi.spyOn(process, "exit").mockImplementation(() => expect.unreachable("exited"));
  onTestFinished(() => exit.mockRestore());
  // Tools such as `dev` report the error.
  await expect(server[serverControl].launch({ port: 0, handleSignals: true })).rejects.toMatchObject({
    code: "INBOX_UNUSABLE",
  });
  expect(logger.lines.filter(({ level }) => level === "error")).toEqual([]);
});

test("a server starts while its access key is revoked, and accepts deliveries after that", async () => {
  await using s3 = await FaultyS3.start();
  s3.faults = [denied];
  for (const [name, value] of Object.entries(s3.variables())) vi.stubEnv(name, value);
  const logger = createMemoryLogger();
  await using server = new WebhooksServer({ inbox: s3.variables().INBOX_URL, secret: "s", logger });
  const ran = Promise.withResolvers<void>();
  server.webhook("retrain", { background: true }, () => ran.resolve());
  await server.ready();
  const deliver = () =>
    server.fetch(
      new Request("http://localhost/webhooks/retrain", {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Webhook-Secret": "s" },
        body: JSON.stringify(webhookPayload("repo.content")),
      }),
    );
  const ready = async () => (await server.fetch(new Request("http://localhost/ready"))).status;
  const refused = await deliver();
  expect([refused.status, refused.headers.get("retry-after"), await ready()]).toEqual([503, "5", 503]);
  expect(logger.lines).toContainEqual(
    expect.objectContaining({ level: "error", msg: expect.stringMatching(/cannot be opened yet.*AWS_ACCESS_KEY_ID/) }),
  );
  s3.faults = [];
  await waitFor(async () => expect((await deliver()).status).toBe(202));
  await ran.promise;
  await waitFor(async () => expect(await ready()).toBe(200));
});
