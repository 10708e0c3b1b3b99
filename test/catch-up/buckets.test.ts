import { createHash } from "node:crypto";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { listFiles, packFiles, unpackFiles } from "../../src/catch-up/bucket-state.ts";
import { followBucket } from "../../src/catch-up/bucket-stream.ts";
import { CallBudget } from "../../src/catch-up/call-budget.ts";
import { HubClient } from "../../src/client.ts";
import { coveredReason } from "../../src/payload/filter.ts";
import { webhookPayload } from "../../src/payload/samples.ts";
import type { WebhookPayload } from "../../src/payload/schema.ts";
import type { EndpointOptions } from "../../src/receiver/endpoint.ts";
import { WebhooksServer } from "../../src/receiver/server.ts";
import { changeFile } from "../support/bucket-files.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";
import {
  catchUp,
  client,
  deliver,
  hub,
  hubCall,
  inbox,
  openOwnInbox,
  secret,
  settled,
  useLocalHub,
} from "./local-hub.ts";

const bucketId = "6366c000a2abcdf2fd69a080";

/** What the handler received, in all runs of a test. */
let received: WebhookPayload[];

useLocalHub(() => {
  received = [];
  hub.createBucket("me/store");
});

type ServerOptions = ConstructorParameters<typeof WebhooksServer>[0] & { hubFetch?: typeof fetch };

/** Creates a server whose endpoint `bot` watches the bucket. */
function createServer(options: EndpointOptions = {}, { hubFetch = fetch, ...other }: ServerOptions = {}) {
  const own = { hubUrl: hub.url, token: "hf_local", fetch: hubFetch, attempts: 1 };
  const server = new WebhooksServer({ secret, inbox, hub: own, ...other });
  onTestFinished(() => server.close());
  const endpoint = { watch: "bucket:me/store", background: true, catchUp: true, ...options } as EndpointOptions;
  server.webhook("bot", endpoint, async (payload) => {
    received.push(payload as WebhookPayload);
  });
  return server;
}

/** Writes files, such as `a=content`. */
async function put(...files: string[]): Promise<void> {
  for (const file of files) {
    const [path, content] = file.split("=");
    await changeFile(hub, `store/${path}`, { body: content });
  }
}

const remove = (path: string) => changeFile(hub, `store/${path}`, { method: "DELETE" });

async function read(): Promise<{ path: string; xetHash: string; size: number }[]> {
  return (await client.fetch("/api/buckets/me/store/tree")).json();
}

type UpdatedFile = NonNullable<WebhookPayload["updatedFiles"]>[number];

/** Returns the present state of files, as the Hub delivers it. */
async function changesOf(...paths: string[]): Promise<UpdatedFile[]> {
  const files = new Map((await read()).map(({ path, xetHash, size }) => [path, { xetHash, size }]));
  return paths.map((path) => {
    const file = files.get(path);
    return file ? { path, action: "add", ...file } : { path, action: "delete" };
  });
}

async function deliverFiles(server: WebhooksServer, updatedFiles: UpdatedFile[], more: object = {}): Promise<string> {
  const repo = { type: "bucket", name: "me/store", id: bucketId } as const;
  return send(server, { ...webhookPayload("repo.content", { repo, updatedFiles }), ...more });
}

let deliveries = 0;

async function send(server: WebhooksServer, payload: object): Promise<string> {
  deliveries += 1;
  const id = `delivery-${deliveries}`;
  const response = await deliver(server, payload, id);
  if (!response.ok) throw new Error(await response.text());
  await settled(server);
  return id;
}

/** The changes that the handler received, as one text per delivery. */
const changes = () =>
  received.flatMap(({ updatedFiles }) => updatedFiles?.map(({ path, action }) => `${action} ${path}`).join(", ") ?? []);

test("A late delivery of an earlier content does not make the present one a change again", {
  tags: "slow",
}, async () => {
  const server = createServer();
  await catchUp(server);
  await put("a=1");
  const late = await changesOf("a");
  await put("a=2");
  await deliverFiles(server, await changesOf("a"));
  await catchUp(server);
  await deliverFiles(server, late);
  expect((await catchUp(server)).derived).toEqual([]);
});

test("A new bucket whose deliveries arrived is not derived again if the clock of the server is behind", async () => {
  const server = createServer({ watch: "user:me" }, { now: () => Date.now() - 5_000 });
  await catchUp(server);
  hub.createBucket("me/new");
  await changeFile(hub, "new/a", { body: "1" });
  const files: UpdatedFile[] = await (await client.fetch("/api/buckets/me/new/tree")).json();
  const repo = { type: "bucket", name: "me/new", id: bucketId } as const;
  await send(server, webhookPayload("repo", { event: { scope: "repo", action: "create" }, repo }));
  const updatedFiles = files.map(({ path, xetHash, size }) => ({ path, action: "add", xetHash, size }));
  await send(server, webhookPayload("repo.content", { repo, updatedFiles }));
  expect((await catchUp(server)).derived).toEqual([]);
});

describe("Catch-up of a bucket", () => {
  test("derives missed writes, overwrites, and deletions as one delivery", async () => {
    await put("a=1", "b=1", "c=1");
    const server = createServer();
    await catchUp(server);
    await put("a=2", "data/d=1");
    await remove("b");
    const dry = await catchUp(server, { dryRun: true });
    expect(received).toEqual([]);
    const { derived } = await catchUp(server);
    expect(derived).toEqual(dry.derived);
    expect(received).toMatchObject([
      {
        event: { scope: "repo.content", action: "update" },
        repo: { type: "bucket", name: "me/store", id: "", private: true },
        updatedFiles: await changesOf("a", "data/d", "b"),
        webhook: { id: "catch-up", version: 3 },
      },
    ]);
    expect(Object.keys(received[0] ?? {})).not.toContain("updatedFilesTruncated");
    expect(Object.keys(received[0]?.repo ?? {})).not.toContain("headSha");
    expect(received[0]?.repo.url.web).toBe(`${hub.url}/buckets/me/store`);
  });

  test("takes one call if nothing has changed, and reads the files again after six hours", async () => {
    let now = Date.now();
    const server = createServer({}, { now: () => now });
    await put("a=1");
    await catchUp(server);
    expect(await catchUp(server)).toMatchObject({ calls: 1, derived: [] });
    now += 6 * 3_600_000;
    expect(await catchUp(server)).toMatchObject({ calls: 2, derived: [] });
  });

  test("derives nothing that was delivered, in another order too", async () => {
    const server = createServer();
    await catchUp(server);
    await put("a=1");
    const first = await changesOf("a");
    await put("a=2", "b=1");
    await deliverFiles(server, await changesOf("a", "b"));
    await deliverFiles(server, first);
    await remove("b");
    await deliverFiles(server, await changesOf("b"));
    expect((await catchUp(server)).derived).toEqual([]);
  });

  test("derives an overwrite that restores a delivered content", async () => {
    const server = createServer();
    await catchUp(server);
    await put("a=1");
    await deliverFiles(server, await changesOf("a"));
    await put("a=2");
    await deliverFiles(server, await changesOf("a"));
    const other = await changesOf("a");
    await put("a=1");
    await catchUp(server);
    expect(received.at(-1)?.updatedFiles).toEqual(await changesOf("a"));
    expect(received.at(-1)?.updatedFiles).not.toEqual(other);
  });

  test("derives the same content again after another one", async () => {
    const server = createServer();
    await put("a=1");
    await catchUp(server);
    for (const content of ["2", "1", "2"]) {
      await put(`a=${content}`);
      await catchUp(server);
    }
    expect(changes()).toEqual(["add a", "add a", "add a"]);
    expect(new Set(received.map(({ updatedFiles }) => updatedFiles?.[0]?.xetHash)).size).toBe(2);
  });

  test("ignores a late delivery of derived changes, and reduces one to the other changes", async () => {
    const server = createServer();
    await put("old=1");
    await catchUp(server);
    await put("a=1", "b=1");
    await remove("old");
    await catchUp(server);
    received = [];
    const id = await deliverFiles(server, await changesOf("a", "old"));
    await put("c=1");
    await deliverFiles(server, await changesOf("b", "c"));
    expect(changes()).toEqual(["add c"]);
    const late = await server.inbox.get(id);
    expect([late?.status, late?.attempts.at(-1)?.reason]).toEqual(["ignored", coveredReason]);
    expect((await catchUp(server)).derived).toEqual([]);
  });

  test("does not ignore the delivery of a derived content after another one was delivered", async () => {
    const server = createServer();
    await put("a=1");
    await catchUp(server);
    const first = await changesOf("a");
    await put("a=2");
    await catchUp(server);
    const second = await changesOf("a");
    received = [];
    await deliverFiles(server, first);
    await deliverFiles(server, second);
    expect(received.map(({ updatedFiles }) => updatedFiles)).toEqual([first, second]);
    expect((await catchUp(server)).derived).toEqual([]);
  });

  test("has the ID that the Hub delivered before", async () => {
    const server = createServer();
    await catchUp(server);
    await put("a=1");
    await deliverFiles(server, await changesOf("a"));
    await catchUp(server);
    await put("b=1");
    await catchUp(server);
    expect(received.map(({ repo }) => repo.id)).toEqual([bucketId, bucketId]);
  });

  test("lists 10,000 files at most", () => {
    const file = (index: number): UpdatedFile => ({
      path: `${index}`,
      action: "add",
      xetHash: "a".repeat(64),
      size: 1,
    });
    const files = Array.from({ length: 10_001 }, (_, index) => file(index));
    expect(listFiles(files)).toEqual({ updatedFiles: files.slice(0, -1), updatedFilesTruncated: true });
    expect(listFiles(files.slice(1))).toEqual({ updatedFiles: files.slice(1) });
  });

  test("runs a late delivery that does not list all files", async () => {
    const server = createServer();
    await catchUp(server);
    await put("a=1");
    await catchUp(server);
    await deliverFiles(server, await changesOf("a"), { updatedFilesTruncated: true });
    expect(changes()).toEqual(["add a", "add a"]);
  });

  test("derives nothing after a delivery that does not list all files", async () => {
    const server = createServer();
    await catchUp(server);
    await put("a=1", "b=1");
    await deliverFiles(server, await changesOf("a"), { updatedFilesTruncated: true });
    expect((await catchUp(server)).derived).toEqual([]);
    await put("c=1");
    await catchUp(server);
    expect(changes()).toEqual(["add a", "add c"]);
  });

  test("derives a new bucket of an owner with its files, and its visibility", async () => {
    const server = createServer({ watch: "user:me" });
    await catchUp(server);
    hub.createBucket("me/other");
    await changeFile(hub, "other/a", { body: "1" });
    await catchUp(server);
    await hubCall("PUT", "/api/buckets/me/other/settings", { private: false });
    await catchUp(server);
    expect(
      received.map(({ event, repo, updatedConfig }) => [event.scope, event.action, repo.name, updatedConfig]),
    ).toEqual([
      ["repo", "create", "me/other", undefined],
      ["repo.content", "update", "me/other", undefined],
      ["repo.config", "update", "me/other", { private: false }],
    ]);
  });

  test("does not compare the bucket of its inbox", async () => {
    const { opened } = await openOwnInbox();
    const server = createServer({ watch: "user:me" }, { inbox: Object.assign(opened, { bucket: "me/store" }) });
    expect(await catchUp(server)).toMatchObject({ repositories: 0 });
  });

  test("reports a bucket that cannot be read, and derives its changes later", async () => {
    let isRefused = true;
    const refusing: typeof fetch = async (input, init) =>
      isRefused && String(input).includes("/tree")
        ? Response.json({ error: "Forbidden" }, { status: 403 })
        : fetch(input, init);
    const server = createServer({}, { hubFetch: refusing });
    isRefused = false;
    await catchUp(server);
    await put("a=1");
    isRefused = true;
    expect(await catchUp(server)).toMatchObject({ failed: 1, derived: [] });
    isRefused = false;
    await catchUp(server);
    expect(changes()).toEqual(["add a"]);
  });

  test("reports a bucket with too many files", async () => {
    const large: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      return String(input).includes("/tree")
        ? response
        : Response.json({ ...(await response.json()), totalFiles: 100_001 });
    };
    const logger = createMemoryLogger();
    expect(await catchUp(createServer({}, { hubFetch: large, logger }))).toMatchObject({ failed: 1, calls: 1 });
    expect(logger.text()).toContain("has 100001 files, and catch-up compares at most 100000");
  });

  test("reports a list of files that does not end", async () => {
    const endless: typeof fetch = async (input, init) => {
      if (!String(input).includes("/tree")) return fetch(input, init);
      return Response.json([], { headers: { link: `<${String(input)}>; rel="next"` } });
    };
    const logger = createMemoryLogger();
    expect(await catchUp(createServer({}, { hubFetch: endless, logger }))).toMatchObject({ failed: 1, calls: 61 });
    expect(logger.text()).toContain("does not end after 60 pages");
  });
});

describe("The packed files of a bucket", () => {
  test("take about 30 bytes per file", async () => {
    const random = (index: number) => createHash("sha256").update(`${index}`).digest("hex");
    const files = Array.from(
      { length: 10_000 },
      (_, index) => [`data/train/part-${index}.parquet`, random(index)] as const,
    );
    const packed = await packFiles(files.map(([path, xetHash]) => [path, { xetHash, size: 1, uploadedAt: 0 }]));
    expect(packed.length / files.length).toBeLessThan(35);
    expect(await unpackFiles(packed)).toEqual(new Map(files.map(([path, hash]) => [path, hash.slice(0, 24)])));
  });
});

describe("A bucket that was deleted and created again", () => {
  test("is derived as a new one", async () => {
    const server = createServer();
    await put("a=1", "b=1");
    await catchUp(server);
    await put("c=1");
    await deliverFiles(server, await changesOf("c"));
    await catchUp(server);
    await remove("a");
    await deliverFiles(server, await changesOf("a"));
    const before = Date.now();
    await waitFor(() => expect(Date.now()).toBeGreaterThan(before + 2));
    await hubCall("DELETE", "/api/buckets/me/store");
    hub.createBucket("me/store");
    await put("b=1");
    received = [];
    await catchUp(server);
    expect(received.map(({ event }) => `${event.scope} ${event.action}`)).toEqual([
      "repo create",
      "repo.content update",
    ]);
    expect(changes()).toEqual(["add b"]);
    expect(received[1]?.repo.id).toBe("");
    expect((await catchUp(server)).derived).toEqual([]);
  });

  test("runs the delivery of a file that catch-up has derived in the earlier one", async () => {
    const server = createServer();
    await catchUp(server);
    await put("a=1");
    await catchUp(server);
    const repo = { type: "bucket", name: "me/store", id: bucketId } as const;
    await send(server, webhookPayload("repo", { event: { action: "delete" }, repo }));
    received = [];
    await deliverFiles(server, await changesOf("a"));
    expect(changes()).toEqual(["add a"]);
  });
});

describe.each([1, 2])("With random writes of seed %i", { tags: "slow" }, (seed) => {
  test.each(["lost", "late"] as const)(
    "the handler receives the state of the bucket if deliveries are %s",
    async (fate) => {
      const random = new SeededRandom(seed);
      const server = createServer();
      const late: UpdatedFile[][] = [];
      await catchUp(server);
      for (let step = 0; step < 25; step += 1) {
        const path = random.pick(["a", "b", "c"]);
        if (random.chance(0.25)) await remove(path);
        else await put(`${path}=${random.pick(["1", "2"])}`);
        const delivered = await changesOf(path);
        if (random.chance(0.5)) await deliverFiles(server, delivered);
        else if (fate === "late") late.push(delivered);
        const [waiting] = random.chance(0.3) ? late.splice(random.below(late.length), 1) : [];
        if (waiting) await deliverFiles(server, waiting);
        if (random.chance(0.2)) await catchUp(server);
      }
      for (const waiting of late) await deliverFiles(server, waiting);
      await catchUp(server);
      expect((await catchUp(server)).derived).toEqual([]);
      const present = new Map((await read()).map(({ path, xetHash }) => [path, xetHash]));
      const seen = new Map<string, string | undefined>();
      for (const { updatedFiles = [], webhook } of received) {
        for (const { path, xetHash } of updatedFiles) {
          // What was delivered is not derived.
          if (fate === "lost" && webhook.id === "catch-up") expect(seen.get(path)).not.toBe(xetHash);
          seen.set(path, xetHash);
        }
      }
      const states = received.flatMap(({ updatedFiles = [] }) =>
        updatedFiles.map(({ path, xetHash }) => `${path} ${xetHash}`),
      );
      for (const path of seen.keys()) {
        if (fate === "lost") expect(seen.get(path)).toBe(present.get(path));
        expect(states).toContain(`${path} ${present.get(path)}`);
      }
      expect([...seen.keys()]).toEqual(expect.arrayContaining([...present.keys()]));
    },
  );
});

describe("The first run for a bucket", () => {
  test.each([
    ["now", []],
    ["all", ["add a, add b"]],
  ] as const)("since %s derives %j", async (since, expected) => {
    await put("a=1", "b=1");
    await catchUp(createServer({ catchUp: { since } }));
    expect(changes()).toEqual(expected);
  });

  test("since a time derives what was uploaded later", async () => {
    await put("a=1", "b=1");
    const before = Date.now();
    await waitFor(() => expect(Date.now()).toBeGreaterThan(before + 5));
    const since = new Date();
    await waitFor(() => expect(Date.now()).toBeGreaterThan(since.getTime() + 5));
    await put("b=2", "c=1");
    await catchUp(createServer({ catchUp: { since } }));
    expect(changes()).toEqual(["add b, add c"]);
  });

  test("that starts earlier than the last one also derives what was deleted since", async () => {
    await put("a=1", "b=1");
    const server = createServer();
    await catchUp(server);
    await remove("a");
    await catchUp(server, { since: new Date(Date.now() - 3_600_000) });
    expect(changes()).toEqual(["add b, delete a"]);
  });
});

describe("The stream of a polled bucket", () => {
  const poll = { port: 0, poll: "1h" } as const;

  /** Records requests for the stream, and lets a test change the answers. */
  function recordStreams(
    change: (response: Response, nth: number) => Response | Promise<Response> = (response) => response,
  ) {
    const streams: { url: string; signal: AbortSignal | null | undefined }[] = [];
    const hubFetch: typeof fetch = async (input, init) => {
      if (!String(input).includes("/events")) return fetch(input, init);
      streams.push({ url: String(input), signal: init?.signal });
      return change(await fetch(input, init), streams.length);
    };
    return { streams, hubFetch };
  }

  test("makes changes arrive without waiting for the interval", { tags: "slow" }, async () => {
    const { streams, hubFetch } = recordStreams();
    const server = createServer({ catchUp: false }, { hubFetch });
    await server.launch(poll);
    await waitFor(() => expect(streams).toHaveLength(1));
    await put("a=1");
    await waitFor(() => expect(changes()).toEqual(["add a"]));
    await put("b=1");
    await waitFor(() => expect(changes()).toEqual(["add a", "add b"]));
    expect(streams).toHaveLength(1);
    await server.close();
    expect(streams[0]?.signal?.aborted).toBe(true);
  });

  test("is opened once for endpoints that watch the same bucket, and not without polling", {
    tags: "slow",
  }, async () => {
    const { streams, hubFetch } = recordStreams();
    const server = createServer({ catchUp: false }, { hubFetch });
    server.webhook("other", { watch: ["bucket:me/store", "user:me"], background: true }, async () => {});
    await server.launch(poll);
    const catching = createServer({}, { hubFetch, inbox: `sqlite:${join(createFolder(), "inbox.db")}` });
    await catching.ready();
    await waitFor(() => expect(streams).toHaveLength(1));
    await put("a=1");
    await waitFor(() => expect(changes()).toContain("add a"));
    expect(streams).toHaveLength(1);
  });

  test("is not opened by a server that does not listen, because it would keep the process alive", async () => {
    vi.stubEnv("POLL", "1h");
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    const { streams, hubFetch } = recordStreams();
    const server = createServer({ catchUp: false }, { hubFetch });
    await server.ready();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(streams).toEqual([]);
    await server.launch({ port: 0 });
    await vi.advanceTimersByTimeAsync(1_000);
    await waitFor(() => expect(streams).toHaveLength(1));
  });

  test("continues after its last cursor when it has ended", { tags: "slow" }, async () => {
    const cut = Promise.withResolvers<void>();
    const { streams, hubFetch } = recordStreams((response, nth) => {
      if (nth > 1) return response;
      return new Response(
        new ReadableStream({
          async start(controller) {
            const reader = response.body?.getReader();
            let text = "";
            while (!text.includes("event: ready")) text += new TextDecoder().decode((await reader?.read())?.value);
            controller.enqueue(new TextEncoder().encode(text));
            await cut.promise;
            await reader?.cancel();
            controller.close();
          },
        }),
      );
    });
    const logger = createMemoryLogger();
    await createServer({ catchUp: false }, { hubFetch, logger }).launch(poll);
    await waitFor(() => expect(logger.text().match(/found nothing/g)).toHaveLength(2));
    cut.resolve();
    await put("a=1");
    await waitFor(() => expect(changes()).toEqual(["add a"]));
    expect(streams.map(({ url }) => new URL(url).searchParams.has("cursor"))).toEqual([false, true]);
  });

  test("survives a reset, an error, and a bucket that is created later", { tags: "slow" }, async () => {
    const { streams, hubFetch } = recordStreams((response, nth) => {
      if (nth > 1) return response;
      return new Response('event: reset\ndata: {"reason":"cursor_too_old"}\n\n');
    });
    await hubCall("DELETE", "/api/buckets/me/store");
    await createServer({ catchUp: false }, { hubFetch }).launch(poll);
    await waitFor(() => expect(streams.length).toBeGreaterThan(1));
    hub.createBucket("me/store");
    await put("a=1");
    await waitFor(() => expect(changes()).toEqual(["add a"]));
    expect(streams.every(({ url }) => !new URL(url).searchParams.has("cursor"))).toBe(true);
  });

  test("makes endpoints compare less often if they share the rate limit", { tags: "slow" }, async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
    onTestFinished(() => {
      // The spy would otherwise restore the fake timer after the real one.
      vi.restoreAllMocks();
      vi.useRealTimers();
    });
    const logger = createMemoryLogger();
    // A Hub on this machine has no rate limit.
    const send: typeof fetch = (input, init) => fetch(String(input).replace("https://hub.test", hub.url), init);
    const own = { hubUrl: "https://hub.test", token: "hf_local", fetch: send, timeout: "24h" } as const;
    const server = createServer({ catchUp: false }, { hub: own, logger });
    server.webhook("other", { watch: "bucket:me/store", background: true }, async () => {});
    await server.launch(poll);
    await waitFor(() => expect(logger.text().match(/found nothing/g)).toHaveLength(4));
    await put("a=1");
    await vi.advanceTimersByTimeAsync(5_000);
    await waitFor(() => expect(changes()).toEqual(["add a"]));
    // Six calls take 9 s of the rate limit.
    await waitFor(() => expect(logger.lines.filter(({ calls }) => calls === 6)).toHaveLength(2));
    const timers = vi.spyOn(globalThis, "setTimeout");
    await put("b=1");
    const isPause = (ms = 0) => ms > 15_000 && ms <= 18_000;
    await waitFor(() => expect(timers.mock.calls.filter(([, ms]) => isPause(ms))).toHaveLength(2));
    await vi.advanceTimersByTimeAsync(18_000);
    await waitFor(() => expect(changes()).toEqual(["add a", "add b"]));
  });

  test("is opened again if nothing arrives any more", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    const { streams, hubFetch } = recordStreams((response, nth) =>
      nth > 1 ? response : new Response(new ReadableStream()),
    );
    await createServer({ catchUp: false }, { hubFetch }).launch(poll);
    await waitFor(() => expect(streams).toHaveLength(1));
    await put("a=1");
    await vi.advanceTimersByTimeAsync(85_000);
    expect(streams).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(10_000);
    await waitFor(() => expect(changes()).toEqual(["add a"]));
  });
});

describe("A stream that ends", () => {
  /** Follows a stream for five minutes. `body` returns each answer, and how long it lives. */
  async function follow(body: (nth: number) => { text: string; livesMs: number }) {
    let now = 0;
    const urls: string[] = [];
    const changedAfter: number[] = [];
    const stopping = new AbortController();
    const monotonicNow = () => now;
    const wait = async (ms: number) => {
      now += ms;
      if (now >= 300_000) stopping.abort();
    };
    const send: typeof fetch = async (input) => {
      urls.push(String(input));
      const { text, livesMs } = body(urls.length);
      const parts = text.match(/.{1,16384}/gs) ?? [];
      return new Response(
        new ReadableStream({
          pull(controller) {
            const part = parts.shift();
            if (part !== undefined) return controller.enqueue(new TextEncoder().encode(part));
            now += livesMs;
            controller.close();
          },
        }),
      );
    };
    await followBucket({
      ...{
        hub: new HubClient({ hubUrl: hub.url, token: "hf_local", fetch: send }),
        wait,
        monotonicNow,
        name: "me/store",
      },
      ...{ budget: new CallBudget({ wait, monotonicNow }), log: createMemoryLogger(), signal: stopping.signal },
      onChange: () => void changedAfter.push(urls.length),
    });
    return { urls, changedAfter };
  }

  const ready = 'event: ready\r\ndata: {"cursor":"1"}\r\n\r\n';

  test.each([
    ["ready", ready, 0, 9],
    ["reset", 'event: reset\ndata: {"reason":"cursor_too_old"}\n\n', 0, 9],
    ["nothing", "", 0, 9],
    ["ready, and lives for a minute", ready, 60_000, 5],
  ])(
    "is opened again after longer waits, unless it has lived for a minute: %s",
    async (_name, text, livesMs, times) => {
      expect((await follow(() => ({ text, livesMs }))).urls).toHaveLength(times);
    },
  );

  test("counts an event of more than 1 MB as a change, and continues after the next one", async () => {
    const large = `data: {"cursor":"2","other":"${"x".repeat(2_000_000)}"}\n\n`;
    const { urls, changedAfter } = await follow((nth) => {
      if (nth === 2) return { text: `: comment\n\n${large}data: {"cursor":"3"}\n\n`, livesMs: 0 };
      return { text: nth === 1 ? ready : "", livesMs: 0 };
    });
    expect(changedAfter).toEqual([1, 2]);
    expect(urls.slice(0, 3).map((url) => new URL(url).searchParams.get("cursor"))).toEqual([null, "1", "3"]);
  });
});
