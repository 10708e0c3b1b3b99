import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, Server } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { BucketFaults } from "../../src/local-hub/s3/faults.ts";
import { openSeededStore, seedRepositories, seedStore } from "../../src/local-hub/seed/seed.ts";
import type { Store } from "../../src/local-hub/store/store.ts";
import { LocalHub, type LocalHubOptions } from "../../src/local-hub.ts";
import { listen } from "../support/listen.ts";
import { startReceiverProcess } from "../support/receiver-process.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { connectS3 } from "./support/bucket.ts";
import { ConsoleClient } from "./support/console-client.ts";
import { openMemoryStore } from "./support/context.ts";
import { data, openLocalHub, pushed, type TestHub } from "./support/hub.ts";
import { openTarget } from "./support/target.ts";

describe("A local Hub", () => {
  test("listens only on this machine, on the given port or a free one, and closes with `await using`", async () => {
    let port: number | undefined;
    {
      await using hub = await LocalHub.launch();
      port = hub.port;
    }
    await using hub = await LocalHub.launch({ port });
    expect(hub.url).toBe(`http://127.0.0.1:${hub.port}`);
    expect(hub.port).toBeGreaterThan(0);
    expect(hub.port).toBe(port);
    expect((await fetch(`${hub.url}/openapi.json`)).status).toBe(200);
  });

  test("serves its OpenAPI document with its own address", async () => {
    const hub = await openLocalHub();
    expect((await hub.request("GET /openapi.json", { token: null })).body).toMatchObject({
      openapi: expect.stringMatching(/^3\.1\./),
      info: { version: "0.0.1" },
      servers: [{ url: hub.url }],
      paths: { "/api/settings/webhooks": { get: expect.anything(), post: expect.anything() } },
    });
  });

  test("rejects a scenario file that is not JSON", async () => {
    const file = join(createFolder(), "broken.json");
    writeFileSync(file, '{ "events": [');
    const { hub } = await openLocalHub();
    await expect(hub.run(file)).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
  });

  test("is settled after the retries of all deliveries, and without deliveries", async () => {
    const hub = await openLocalHub();
    await hub.hub.settled();
    const target = await openTarget();
    target.answerWith(500, 200);
    await hub.create({ url: target.url });
    await hub.trigger(undefined, { wait: false });
    await hub.hub.settled();
    expect(target.requests).toHaveLength(2);
  });

  test("is settled when a pending delivery is canceled, or the local Hub closes", async () => {
    const hub = await openLocalHub({ backoff: "1h" });
    const target = await openTarget();
    target.answerWith(500);
    const { id } = await hub.create({ url: target.url });
    await hub.trigger(undefined, { wait: false });
    await target.hasReceived(1);
    const settled = hub.hub.settled();
    await hub.delete(id);
    await settled;
    await hub.create({ url: target.url });
    await hub.trigger(undefined, { wait: false });
    const closed = hub.hub.settled();
    await hub.hub.close();
    await closed;
    await expect(hub.hub.settled()).rejects.toMatchObject({ code: "CLOSING" });
  });

  test("closes once, even if close() is called several times", async () => {
    const hub = await LocalHub.launch();
    const closing = hub.close();
    await Promise.all([closing, hub.close(), hub[Symbol.asyncDispose]()]);
    await hub.close();
    await expect(fetch(hub.url)).rejects.toThrow();
  });

  test("closes without waiting for the latency of a bucket, and refuses the delayed request", async () => {
    const hub = await LocalHub.launch();
    onTestFinished(() => hub.close());
    hub.createBucket("me/store");
    hub.setBucketFaults([{ kind: "latency", latency: "1h" }]);
    using wait = vi.spyOn(BucketFaults.prototype, "wait");
    const put = connectS3(hub).send(new PutObjectCommand({ Bucket: "store", Key: "delayed", Body: "content" }));
    const refused = expect(put).rejects.toMatchObject({ name: "SlowDown", $metadata: { httpStatusCode: 503 } });
    await expect.poll(() => wait.mock.calls.length, { interval: 5 }).toBe(1);
    await hub.close();
    await refused;
  });

  test("closes while a console is open, and ends its stream", async () => {
    const hub = await LocalHub.launch();
    onTestFinished(() => hub.close());
    const client = await ConsoleClient.signIn(hub.createConsoleLink());
    const reader = (await client.stream({ signal: new AbortController().signal })).getReader();
    expect(await reader.read()).toMatchObject({ done: false });
    await hub.close();
    for (;;) if ((await reader.read()).done) break;
  });

  test("closes its connections to receivers", async () => {
    const server = createHttpServer({ keepAliveTimeout: 0 }, (_request, response) => response.end());
    const connected = once(server, "connection");
    const { url } = await listen(server);
    const hub = await openLocalHub();
    await hub.create({ url });
    expect(await hub.hub.push(data)).toMatchObject([{ status: 200 }]);
    const [socket] = await connected;
    const closed = once(socket, "close");
    await hub.hub.close();
    await closed;
  });

  test("does not keep the process alive after it closes", { tags: "slow" }, async () => {
    const child = startReceiverProcess(new URL("./support/hub-script.ts", import.meta.url), { CLOSES: "1" });
    expect(await child.says("closed")).toMatchObject({ fired: 1 });
    expect(await child.exited).toEqual({ code: 0, signal: null });
    expect(child.errorOutput).toBe("");
  });
});

describe("A local Hub that cannot start", () => {
  test("throws an error with the port that is in use", async () => {
    const { port } = await listen(createServer());
    await expect(LocalHub.launch({ port })).rejects.toMatchObject({
      code: "PORT_IN_USE",
      message: expect.stringMatching(new RegExp(`${port} .*another port`)),
    });
  });

  test("throws the reason of any other failure to listen", async () => {
    const denied = Object.assign(new Error("listen EACCES"), { code: "EACCES" });
    using _listen = vi.spyOn(Server.prototype, "listen").mockImplementation(function (this: Server) {
      queueMicrotask(() => this.emit("error", denied));
      return this;
    });
    await expect(LocalHub.launch({ port: 0 })).rejects.toMatchObject({ code: "LISTEN_FAILED" });
  });

  test("throws for an invalid or unknown option, and suggests a valid one", async () => {
    const invalid: LocalHubOptions[] = [
      ...[{ attempts: 0 }, { attempts: 1.5 }, { attempts: Number.NaN }, { backoff: 0 }],
      ...[{ backoff: JSON.parse('"soon"') }, { timeout: -1 }, { timeout: "30d" as const }, { suspendAfter: -1 }],
      ...[{ triggersPerDay: 0 }, { port: -1 }, { port: 65_536 }, { port: 1.5 }, { port: Number.NaN }],
      Object.assign<LocalHubOptions, object>({}, { suspendafter: 3 }),
    ];
    for (const options of invalid) {
      const [option = ""] = Object.keys(options);
      const message = expect.stringContaining(option === "suspendafter" ? 'Did you mean "suspendAfter"?' : option);
      await expect(LocalHub.launch(options)).rejects.toMatchObject({ code: "OPTION_INVALID", message });
    }
  });
});

const repositories = z.array(z.looseObject({ name: z.string(), id: z.string(), headSha: z.string().optional() }));

const repositoriesOf = (hub: TestHub) => hub.read("GET /_local/repositories", repositories, { token: null });

describe("The repositories of a new local Hub", () => {
  test("are the same in every local Hub, and a reset restores them", async () => {
    const [hub, another] = [await openLocalHub(), await openLocalHub()];
    const before = await repositoriesOf(hub);
    expect(await repositoriesOf(another)).toEqual(before);
    await hub.trigger({ repo: { type: "model", name: "acme/sentiment" }, event: { scope: "repo", action: "delete" } });
    await hub.trigger({ repo: { type: "model", name: "acme/new" }, event: { scope: "repo", action: "create" } });
    const names = (await repositoriesOf(hub)).map(({ name }) => name);
    expect(names).toContain("acme/new");
    expect(names).not.toContain("acme/sentiment");
    hub.hub.reset();
    expect(await repositoriesOf(hub)).toEqual(before);
  });

  test("keep their head commit and their discussion numbers with new events", async () => {
    const target = await openTarget();
    const hub = await openLocalHub();
    const repo = { type: "dataset", name: "acme/reviews" } as const;
    await hub.create({ url: target.url, watched: [repo] });
    const reviews = (await repositoriesOf(hub)).find(({ name }) => name === repo.name);
    await hub.trigger({ repo, event: pushed.event });
    await hub.trigger({ repo, event: { scope: "discussion", action: "create" } });
    expect(target.payloads).toMatchObject([
      { repo: { id: reviews?.id }, updatedRefs: [{ oldSha: reviews?.headSha }] },
      { repo: { id: reviews?.id }, discussion: { num: 13 } },
    ]);
  });
});

function openSeeded() {
  const store = openMemoryStore();
  seedRepositories(store);
  return store;
}

test("The example models, datasets, and Spaces have a first commit with a card, which is the same in every local Hub", () => {
  const [store, other] = [openSeeded(), openSeeded()];
  const repositories = store.repositories.all().filter(({ type }) => type !== "bucket" && type !== "kernel");
  expect(repositories).toHaveLength(7);
  for (const { id, headSha = "", createdAt, lastModified } of repositories) {
    const commit = store.content.resolve(id, "main");
    expect(commit).toMatchObject({ oid: headSha, parents: [], date: createdAt });
    expect(lastModified).toBe(createdAt);
    expect(other.content.resolve(id, "main")).toEqual(commit);
    const tree = commit?.tree ?? "";
    expect(Array.from(store.content.list(tree), ({ path }) => path)).toEqual([".gitattributes", "README.md"]);
    const { oid = "" } = store.content.find(tree, "README.md") ?? {};
    expect(Buffer.from(store.content.read({ oid })).toString()).toMatch(/^(---\n[\s\S]+\n---\n\n)?# \w+\n/);
  }
  expect(other.repositories.all()).toEqual(store.repositories.all());
});

describe("A seeded store in memory", () => {
  const open = (now: number) => {
    const store = openSeededStore({ file: undefined, now });
    onTestFinished(() => store.close());
    return store;
  };
  const newestEvent = ({ auditLog }: Store) =>
    auditLog.page({ organization: "acme", filter: { authors: [], ips: [], types: [] }, limit: 1 }).events[0];

  test("does not contain the changes of earlier stores", () => {
    const now = Date.now();
    const first = open(now);
    const repositories = first.repositories.all();
    first.clear();
    const second = open(now + 1_000);
    expect(second.repositories.all()).toEqual(repositories);
    expect(newestEvent(second)).toBeDefined();
    second.clear();
    expect(open(now + 2_000).repositories.all()).toEqual(repositories);
  });

  test("has the example data if Node cannot copy a database", () => {
    const { serialize } = DatabaseSync.prototype;
    onTestFinished(() => void Object.assign(DatabaseSync.prototype, { serialize }));
    Reflect.deleteProperty(DatabaseSync.prototype, "serialize");
    // Later than the copies of other tests, so that this one would be copied.
    const now = Date.now() + 86_400_000;
    expect([open(now), open(now)].map(({ repositories }) => repositories.all().length)).toEqual([9, 9]);
  });

  test("has times relative to its start, to the minute", () => {
    const now = Date.now();
    const dateAt = (at: number) => newestEvent(open(at))?.at ?? Number.NaN;
    expect(dateAt(now + 3_600_000) - dateAt(now)).toBeGreaterThanOrEqual(3_600_000 - 60_000);
    expect(dateAt(now) - dateAt(now + 3_600_000)).toBeLessThanOrEqual(60_000 - 3_600_000);
  });
});

test("The example notifications about models, datasets, and Spaces are about stored discussions with a comment", () => {
  const store = openMemoryStore();
  seedStore(store, { now: 0 });
  let found = 0;
  for (const { id, record } of store.notifications.listByOwner("local-user")) {
    if (record.about.type !== "repo") continue;
    const { repo, discussion } = record.about;
    if (repo.type === "bucket" || repo.type === "kernel") continue;
    const { id: repositoryId = "", headSha } = store.repositories.get(repo) ?? {};
    const stored = store.discussions.get({ repositoryId, num: discussion.num });
    expect(stored).toMatchObject({ id, ...discussion });
    expect(store.discussions.events({ repositoryId, num: discussion.num })).toMatchObject([{ type: "comment" }]);
    const ref = store.content.getRef(repositoryId, `refs/pr/${discussion.num}`);
    expect(ref).toBe(discussion.isPullRequest ? headSha : undefined);
    found += 1;
  }
  expect(found).toBe(11);
});
