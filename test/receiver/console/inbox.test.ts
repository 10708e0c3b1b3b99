import { resolve } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { InboxInfo } from "../../../src/console/protocol/inbox.ts";
import type { Inbox } from "../../../src/inbox/inbox.ts";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { WebhookError, type WebhooksServer } from "../../../src/index.ts";
import { createInbox, locateInbox } from "../../../src/receiver/console/inbox.ts";
import { ServerContext } from "../../../src/receiver/context.ts";
import { DeliveryHistory } from "../../../src/receiver/platform.node.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { startPostgres } from "../../support/postgres-server.ts";
import { waitFor } from "../../support/wait-for.ts";
import { openReceiverConsole } from "./open-receiver-console.ts";

const none = { queued: 0, running: 0, dead: 0, succeeded: 0, ignored: 0, cancelled: 0 };
const day = 24 * 3_600_000;

function declareAll(server: WebhooksServer): void {
  server.webhook("inline", () => {});
  server.webhook("works", { background: true }, () => {});
  server.webhook("dying", { background: true, attempts: 1, retention: "3d" }, () => {
    throw new Error("No GPU is left");
  });
}

async function open(...options: Parameters<typeof openReceiverConsole>) {
  const opened = await openReceiverConsole(...options);
  return { ...opened, read: (): Promise<InboxInfo> => opened.client.read("inbox") };
}

/** Returns an inbox in memory with other methods in place of some of its own. */
function openInbox(methods: Partial<Inbox>): Inbox {
  const inbox: Inbox = new SqliteInbox({ file: ":memory:", now: Date.now, log: createMemoryLogger() });
  return Object.assign(inbox, methods);
}

describe("The inbox", () => {
  test("is described with its endpoints, before the first delivery", async () => {
    const { read } = await open(declareAll);
    expect(await read()).toEqual({
      state: "open",
      location: { engine: "memory", keptUntil: "process-exit" },
      problems: [],
      warnings: [expect.stringContaining("INBOX_URL")],
      recordsDetails: true,
      contents: {
        endpoints: [
          {
            ...{ name: "works", counts: none, isServed: true, isPaused: false },
            ...{ retentionMs: 14 * day, idRetentionMs: 14 * day },
          },
          {
            ...{ name: "dying", counts: none, isServed: true, isPaused: false },
            ...{ retentionMs: 3 * day, idRetentionMs: 7 * day },
          },
        ],
      },
    });
  });

  test("counts the deliveries of each endpoint by status", async () => {
    const { read, deliver, untilStatus, server, client } = await open(declareAll);
    await deliver("works", "w-1");
    await deliver("dying", "d-1");
    await deliver("dying", "d-2");
    await deliver("inline", "i-1");
    await untilStatus("works", "w-1", "succeeded");
    for (const id of ["d-1", "d-2"]) await untilStatus("dying", id, "dead");
    await client.change("deliveries/discard", { endpoint: "dying", id: "d-2" });
    await server.inbox.pause("works");
    await deliver("works", "w-2");
    const { contents } = await read();
    expect(contents?.endpoints).toMatchObject([
      { name: "works", counts: { ...none, queued: 1, succeeded: 1 }, isPaused: true },
      { name: "dying", counts: { ...none, dead: 1, cancelled: 1 }, isPaused: false },
    ]);
  });

  test("lists endpoints that this server does not run in the background", async () => {
    const file = inboxFile();
    const inbox = `sqlite:${file}`;
    const log = createMemoryLogger();
    const other = new SqliteInbox({ file, now: Date.now, log });
    for (const endpoint of ["renamed", "constructor", "__proto__"]) {
      await other.accept({ id: "d-1", endpoint, body: "{}", receivedAt: new Date() });
    }
    await other.close(0);
    const { read } = await open((server) => server.webhook("works", { background: true }, () => {}), { inbox });
    const { contents } = await read();
    const waiting = { counts: { ...none, queued: 1 }, isServed: false, isPaused: false };
    expect(contents?.endpoints[0]).toMatchObject({ name: "works", counts: none, isServed: true });
    expect(contents?.endpoints.slice(1).sort((one, two) => one.name.localeCompare(two.name))).toEqual([
      { name: "__proto__", ...waiting },
      { name: "constructor", ...waiting },
      { name: "renamed", ...waiting },
    ]);
  });

  test("is not opened for a server without background endpoints", async () => {
    const inbox = `sqlite:${inboxFile()}`;
    const { read, logger } = await open((server) => server.webhook("inline", () => {}), {
      inbox,
      recordDetails: false,
    });
    expect(await read()).toMatchObject({ state: "unused", location: { engine: "sqlite" }, recordsDetails: false });
    expect(logger.lines.filter(({ inbox: opened }) => opened !== undefined)).toEqual([]);
  });

  test("of a Space warns that a restart erases it", async () => {
    vi.stubEnv("SPACE_ID", "acme/bot");
    vi.stubEnv("SPACE_HOST", "acme-bot.hf.space");
    const { read } = await open(declareAll, { inbox: `sqlite:${inboxFile()}` });
    expect(await read()).toMatchObject({
      location: { keptUntil: "space-restart" },
      warnings: [expect.stringContaining("Storage Bucket")],
    });
  });

  test("of another engine is described without location", async () => {
    const inbox = openInbox({});
    Object.assign(inbox, { describe: undefined });
    const { read } = await open(declareAll, { inbox });
    const { location, contents, warnings } = await read();
    expect(location).toEqual({ engine: "custom" });
    expect(warnings).toEqual([]);
    expect(Object.keys(contents ?? {})).toEqual(["endpoints"]);
  });
});

describe("The state of an inbox", () => {
  const problem = { code: "INBOX_DAMAGED", severity: "degraded", message: "Some records are missing." } as const;

  test("is degraded if a problem affects some deliveries, and everything else is shown", async () => {
    const { read } = await open(declareAll, { inbox: openInbox({ problems: async () => [problem] }) });
    expect(await read()).toMatchObject({ state: "degraded", problems: [problem], contents: { endpoints: [{}, {}] } });
  });

  test("is unavailable if the worst problem affects all deliveries", async () => {
    const worst = { code: "INBOX_TAKEN_OVER", severity: "unavailable", message: "Stop this process." } as const;
    const { read } = await open(declareAll, { inbox: openInbox({ problems: async () => [problem, worst] }) });
    expect(await read()).toMatchObject({ state: "unavailable", problems: [problem, worst] });
  });

  test("is unavailable if it cannot be opened, without the secrets of its URL", async () => {
    const planted = "pl4nted-9a27c1d0e5";
    const { read, client } = await open(declareAll, { inbox: `redis://${planted}-u:${planted}@127.0.0.1:1/3` });
    // The first read can end before the packages for Redis are loaded.
    await waitFor(async () => expect(await read()).toMatchObject({ state: "unavailable" }));
    expect(await read()).toMatchObject({
      location: { engine: "redis", address: "127.0.0.1:1", database: "3" },
      problems: [{ code: "INBOX_UNUSABLE", severity: "unavailable", message: expect.stringContaining("INBOX_URL") }],
    });
    expect(await (await client.get("inbox")).text()).not.toContain(planted);
  });

  test("is unavailable if the URL is not supported", async () => {
    const { read } = await open(declareAll, { inbox: "mysql://db.example" });
    expect(await read()).toMatchObject({
      state: "unavailable",
      location: { engine: "unknown" },
      problems: [{ code: "OPTION_INVALID" }],
    });
  });

  test("contains errors of the inbox, but no messages of its driver", async () => {
    const secret = "pl4nted-password-31c";
    const refuse = async () => {
      throw new Error(`password "${secret}" refused`);
    };
    const refused = openInbox({ counts: refuse, describe: refuse });
    const { read, client } = await open(declareAll, { inbox: refused });
    expect(await read()).toMatchObject({ state: "unavailable", problems: [{ code: "INBOX_UNAVAILABLE" }] });
    expect(await read()).not.toHaveProperty("contents");
    expect(await (await client.get("inbox")).text()).not.toContain(secret);
    const known = openInbox({
      counts: async () => {
        throw new WebhookError("The inbox did not answer.", { code: "INBOX_UNAVAILABLE", status: 503 });
      },
    });
    const other = await open(declareAll, { inbox: known });
    expect(await other.read()).toMatchObject({ problems: [{ message: "The inbox did not answer." }] });
  });

  test("is unavailable if methods of the program's own inbox throw", async () => {
    const fail = () => {
      throw new TypeError("Not implemented");
    };
    const { read } = await open(declareAll, { inbox: openInbox({ problems: fail, counts: fail, describe: fail }) });
    expect(await read()).toMatchObject({ state: "unavailable", problems: [{ code: "INBOX_UNAVAILABLE" }] });
  });

  test("is opening until the inbox is open, and keeps the reason of a failed attempt during the next one", async () => {
    let opening = Promise.withResolvers<Inbox>();
    const onOpened = vi.fn<() => void>();
    const inbox = createInbox(
      {
        ...{
          server: new ServerContext({}, DeliveryHistory),
          openInbox: () => opening.promise,
          configuredInbox: () => undefined,
        },
        mask: (message) => message,
      },
      { onOpened, openingMs: 1 },
    );
    expect(await inbox.read()).toMatchObject({ state: "opening", problems: [] });
    opening.reject(new WebhookError("The bucket is not available.", { code: "INBOX_UNUSABLE" }));
    const failed = { state: "unavailable", problems: [{ code: "INBOX_UNUSABLE" }] };
    expect(await inbox.read()).toMatchObject(failed);
    // An open page that shows "Opening" loads the reason.
    expect(onOpened).toHaveBeenCalledOnce();
    opening = Promise.withResolvers();
    expect(await inbox.read()).toMatchObject(failed);
    const opened = openInbox({});
    onTestFinished(async () => void (await opened.close(0)));
    opening.resolve(opened);
    expect(await inbox.read()).toMatchObject({ state: "open", problems: [] });
  });

  test("is closed after the server has closed, and the inbox stays closed", async () => {
    const inbox = openInbox({});
    const { read, server } = await open(declareAll, { inbox });
    expect(await read()).toMatchObject({ state: "open" });
    await server.close();
    const counts = vi.spyOn(inbox, "counts");
    expect(await read()).toMatchObject({ state: "closed", problems: [] });
    expect(counts).not.toHaveBeenCalled();
  });
});

beforeEach(() => {
  for (const name of ["SPACE_ID", "SPACE_HOST", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION"]) {
    vi.stubEnv(name, "");
  }
});

const kept = { keptUntil: "retention" };
const redis = { engine: "redis", namespace: "hub-webhooks", ...kept };
const postgres = { engine: "postgres", namespace: "hub_webhooks", ...kept };

describe("The location of an inbox", () => {
  test.each([
    ["sqlite:./data/inbox.db", { engine: "sqlite", address: resolve("data/inbox.db"), ...kept }],
    ["sqlite:///data/a@b.db", { engine: "sqlite", address: "/data/a@b.db", ...kept }],
    ["sqlite::memory:", { engine: "memory", keptUntil: "process-exit" }],
    [undefined, { engine: "memory", keptUntil: "process-exit" }],
    [
      "hf://buckets/me/inbox/production",
      { engine: "bucket", address: "hf://buckets/me/inbox/production", api: "https://s3.hf.co/me", ...kept },
    ],
    [
      "s3://mine/inbox?endpoint=https://minio.example:9000",
      { engine: "bucket", address: "s3://mine/inbox", api: "https://minio.example:9000", ...kept },
    ],
    ["redis://cache.example", { ...redis, address: "cache.example:6379", database: "0" }],
    ["rediss://:planted@[::1]:7000/3", { ...redis, address: "[::1]:7000", database: "3" }],
    ["postgres://planted:planted@db.example/hooks", { ...postgres, address: "db.example:5432", database: "hooks" }],
    ["postgresql:///hooks?host=/run/pg&password=planted", { ...postgres, address: "/run/pg", database: "hooks" }],
    ["postgres://planted@db.example:6000?sslmode=require", { ...postgres, address: "db.example:6000" }],
  ])("at %s contains what identifies it", (url, expected) => {
    expect(locateInbox(url)).toEqual(expected);
  });

  test.each([
    ...["redis://planted:12/planted@cache.example:6379/0", "redis://planted?planted@cache.example"],
    ...["redis://planted#planted@cache.example", "postgres://planted:12/planted@db.example/hooks"],
    ...["postgres://planted:pla nted@db.example/hooks", "redis://:planted/@cache.example"],
    ...["mysql://planted:planted@db.example/hooks"],
    ...["s3://mine/inbox?endpoint=https://planted:planted@minio.example", "planted"],
  ])("at %s contains no part of a password that is not escaped", (url) => {
    expect(JSON.stringify(locateInbox(url))).not.toMatch(/planted|pla nted/);
  });

  test("of a file in a Space is erased, unless it is on a mounted disk", () => {
    vi.stubEnv("SPACE_ID", "acme/bot");
    vi.stubEnv("SPACE_HOST", "acme-bot.hf.space");
    expect(locateInbox("sqlite:./inbox.db").keptUntil).toBe("space-restart");
    expect(locateInbox("sqlite:/data/inbox.db?unsafe-file-system=allow").keptUntil).toBe("retention");
    expect(locateInbox("redis://cache.example").keptUntil).toBe("retention");
  });

  test("of an Inbox object and of an unsupported URL is unknown", async () => {
    const inbox = new SqliteInbox({ file: ":memory:", now: Date.now, log: createMemoryLogger() });
    expect(locateInbox(inbox)).toEqual({ engine: "custom" });
    await inbox.close(0);
    expect(locateInbox("mysql://db.example")).toEqual({ engine: "unknown" });
  });
});

// Slow, because it starts PostgreSQL.
test("An inbox in PostgreSQL that refuses the username is unavailable, and the username is not shown", {
  tags: "slow",
}, async () => {
  await using postgres = await startPostgres();
  const inbox = `postgres://pl4nted-user-7c1e:pl4nted-password@127.0.0.1:${postgres.port}/postgres`;
  const { client } = await openReceiverConsole(declareAll, { inbox });
  await waitFor(async () => {
    const text = await (await client.get("inbox")).text();
    expect(JSON.parse(text)).toMatchObject({ state: "unavailable", problems: [{ code: "INBOX_UNUSABLE" }] });
    expect(text).toContain("authentication failed");
    expect(text).not.toContain("pl4nted");
  });
});
