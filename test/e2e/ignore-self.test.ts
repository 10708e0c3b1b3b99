import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { HubClient, type HubClientOptions } from "../../src/client.ts";
import { type EndpointOptions, type Handler, WebhooksServer } from "../../src/index.ts";
import { LocalHub } from "../../src/local-hub.ts";
import { settled } from "../../src/testing.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";

let localHub: LocalHub;
/** A client of the same account that is not part of a server. */
let author: HubClient;

beforeAll(async () => {
  localHub = await LocalHub.launch({ backoff: 10, triggersPerDay: Number.POSITIVE_INFINITY });
  author = new HubClient(account());
});
afterAll(() => localHub.close());

const account = (): HubClientOptions => ({ hubUrl: localHub.url, token: "hf_local" });

let repositories = 0;

/** Creates an empty model. */
async function createModel() {
  repositories += 1;
  const name = `net-${repositories}`;
  const body = JSON.stringify({ type: "model", name });
  const response = await author.fetch("/api/repos/create", { method: "POST", body });
  expect(response.status).toBe(200);
  return { type: "model", name: `local-user/${name}` } as const;
}

const background: EndpointOptions = { background: true, attempts: 2, backoff: [10] };

interface BotOptions {
  repo: { type: "model"; name: string };
  handler: Handler;
  options?: EndpointOptions;
  /** Whether the handler runs before the response. Default `background`. */
  kind?: string;
  inbox?: string;
  hubSignature?: string;
  hub?: HubClientOptions;
}

/** Starts a server with a webhook for a repository. */
async function startBot({ repo, handler, options, kind, inbox = "sqlite::memory:", hubSignature, hub }: BotOptions) {
  const log = createMemoryLogger();
  const server = new WebhooksServer({
    secret: false,
    logger: log,
    inbox,
    hub: { ...account(), ...hub },
    ...(hubSignature !== undefined && { hubSignature }),
  });
  server.webhook("bot", { ignoreSelf: true, ...(kind !== "inline" && background), ...options }, handler);
  const { url } = await server.launch({ port: 0, handleSignals: false });
  onTestFinished(() => server.close());
  const webhook = await author.webhooks.create({
    url: `${url}/webhooks/bot`,
    watched: [repo],
    domains: ["repo", "discussion"],
  });
  onTestFinished(() => author.webhooks.delete(webhook.id));
  /** Waits until this number of deliveries has run, and returns their outcomes by scope and action, sorted. */
  const outcomes = async (count: number) => {
    const ended = () => log.lines.filter(({ outcome }) => outcome !== undefined);
    await waitFor(() => expect(ended().length, log.text()).toBeGreaterThanOrEqual(count), { timeout: 10_000 });
    await settled(server);
    return ended()
      .map(({ scope, action, outcome }) => `${scope} ${action} ${outcome}`)
      .sort();
  };
  return { server, log, url, outcomes };
}

describe("A handler with ignoreSelf", () => {
  test("that comments, commits, opens a pull request, and merges it, does not run for its own events", async () => {
    const repo = await createModel();
    const { outcomes } = await startBot({
      repo,
      handler: async (payload, { hub }) => {
        const own = hub.repo(payload.repo);
        await own.upsertComment(payload.discussion?.num ?? 0, { marker: "hello", text: "Hello" });
        await own.commit({ message: "Add a card", files: { "README.md": "# Net" } });
        const opened = await own.openPullRequest({ title: "Add data", files: { "data.txt": "1" }, marker: "data" });
        await own.merge(opened?.num ?? 0);
        await own.openDiscussion({ title: "Metadata review", marker: "review" });
      },
    });
    await author.repo(repo).openDiscussion({ title: "A question", marker: "question" });
    expect(await outcomes(8)).toEqual([
      "discussion create ignored",
      "discussion create ignored",
      "discussion create succeeded",
      "discussion update ignored",
      "discussion.comment create ignored",
      "repo.content update ignored",
      "repo.content update ignored",
      "repo.content update ignored",
    ]);
  });

  test("runs for other changes of the same account", async () => {
    const repo = await createModel();
    const { outcomes } = await startBot({ repo, handler: () => {} });
    await author.repo(repo).commit({ message: "Add a card", files: { "README.md": "# Net" } });
    const { num } = await author.repo(repo).openDiscussion({ title: "A question", marker: "question" });
    await author.repo(repo).comment(num, "Hello");
    expect(await outcomes(3)).toEqual([
      "discussion create succeeded",
      "discussion.comment create succeeded",
      "repo.content update succeeded",
    ]);
  });

  test("recognizes the changes of a server with the same name by their markers, if the IDs are lost", async () => {
    const repo = await createModel();
    const { outcomes } = await startBot({ repo, handler: () => {}, hubSignature: "bot" });
    const lost = new WebhooksServer({
      secret: false,
      hub: account(),
      hubSignature: "bot",
      logger: createMemoryLogger(),
    });
    const own = lost.hub.repo(repo);
    await own.commit({ message: "Add a card", files: { "README.md": "# Net" } });
    const opened = await own.openPullRequest({ title: "Add data", files: { "data.txt": "1" }, marker: "data" });
    const num = opened?.num ?? 0;
    const { id } = await own.comment(num, "Hello");
    await own.editComment(num, id, "Hello again");
    expect(await outcomes(5)).toEqual([
      "discussion create ignored",
      "discussion.comment create ignored",
      "discussion.comment update ignored",
      "repo.content update ignored",
      "repo.content update ignored",
    ]);
  });

  test.each(["background", "inline"])("waits for a call whose event arrives before the answer: %s", async (kind) => {
    const repo = await createModel();
    const requests: string[] = [];
    const isArrived = Promise.withResolvers<void>();
    const { server, outcomes } = await startBot({
      repo,
      handler: () => {},
      kind,
      hub: {
        fetch: async (input, init) => {
          const { pathname } = new URL(String(input));
          requests.push(pathname);
          const response = await fetch(input, init);
          if (pathname.includes("/commit/")) await isArrived.promise;
          return response;
        },
      },
    });
    const committing = server.hub.repo(repo).commit({ message: "Add a card", files: { "README.md": "# Net" } });
    if (kind === "background") {
      await waitFor(async () => expect((await server.inbox.counts()).bot).toMatchObject({ running: 1 }), {
        interval: 2,
      });
    } else await waitFor(() => expect(requests.some((path) => path.includes("/commit/"))).toBe(true));
    isArrived.resolve();
    await committing;
    expect(await outcomes(1)).toEqual(["repo.content update ignored"]);
    // The marker was not needed.
    expect(requests).not.toContain("/api/whoami-v2");
  });
});

test("A handler with paths runs for pushes and pull requests that change these files", async () => {
  const repo = await createModel();
  const ran: unknown[] = [];
  const { outcomes } = await startBot({
    repo,
    options: { paths: ["README.md", "data/**"] },
    handler: (payload) => void ran.push(payload.updatedRefs?.[0]?.ref),
  });
  const own = author.repo(repo);
  await own.commit({ message: "Add data", files: { "data/a/1.txt": "1", "config.json": "{}" } });
  await own.commit({ message: "Change the settings", files: { "config.json": "[]" } });
  await own.commit({ message: "Delete data", files: { "data/a/1.txt": null } });
  await own.openPullRequest({ title: "Add a card", files: { "README.md": "# Net" }, marker: "card" });
  await own.openPullRequest({ title: "Add code", files: { "net.py": "" }, marker: "code" });
  expect((await outcomes(7)).filter((outcome) => outcome.startsWith("repo.content"))).toEqual([
    "repo.content update ignored",
    "repo.content update ignored",
    "repo.content update succeeded",
    "repo.content update succeeded",
    "repo.content update succeeded",
  ]);
  expect(ran.toSorted()).toEqual(["refs/heads/main", "refs/heads/main", "refs/pr/1"]);
});

// The contract of the inboxes covers the other engines.
test("Two servers that share an inbox recognize each other's changes by their IDs", async () => {
  const inbox = `sqlite:${join(createFolder(), "inbox.db")}`;
  const repo = await createModel();
  // The servers have different names, so the markers are of no use.
  const first = await startBot({ repo, handler: () => {}, inbox, hubSignature: "first" });
  const other = new WebhooksServer({
    secret: false,
    inbox,
    hub: account(),
    hubSignature: "second",
    logger: createMemoryLogger(),
  });
  onTestFinished(() => other.close());
  other.webhook("other", { background: true }, () => {});
  await other.ready();
  const own = other.hub.repo(repo);
  await own.commit({ message: "Add a card", files: { "README.md": "# Net" } });
  await own.openPullRequest({ title: "Add data", files: { "data.txt": "1" }, marker: "data" });
  expect(await first.outcomes(3)).toEqual([
    "discussion create ignored",
    "repo.content update ignored",
    "repo.content update ignored",
  ]);
});
