import { describe, expect, onTestFinished, test } from "vitest";
import { HubClient } from "../../src/client.ts";
import { openInbox } from "../../src/inbox/open-inbox.ts";
import { LocalHub } from "../../src/local-hub.ts";
import { freePort } from "../support/free-port.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { addressOf, type ReceiverProcess, startReceiverProcess } from "../support/receiver-process.ts";
import { waitFor } from "../support/wait-for.ts";
import { engines } from "./inbox-engines.ts";
import { inboxEnvironment } from "./inbox-receiver.ts";
import { secret } from "./receiver.ts";
import { countRows } from "./rows.ts";

countRows("acting");

const script = new URL("./acting-script.ts", import.meta.url);

/** The number of kills per engine. Each takes about a second. */
const kills = Number(process.env.KILLS ?? 6);
if (kills < 50) console.warn(`Receivers are killed after calls of the Hub ${kills} times. Set KILLS=50 for 50 times.`);

describe.each(engines)("A receiver on an inbox in $name that acts on the Hub", ({ name, url: createUrl }) => {
  test(`R8: leaves one comment, pull request, and commit per push when it is killed after a call, ${kills} times`, {
    timeout: 60_000 + kills * 4_000,
  }, async () => {
    const { hub, author, repo } = await startHub();
    const inbox = await createUrl();
    const port = await freePort();
    const receivers: ReceiverProcess[] = [];
    const start = async (killAt: number) => {
      const environment = { HUB_URL: hub.url, PORT: String(port), LEASE_MS: "1000", KILL_AT: String(killAt) };
      const receiver = startReceiverProcess(script, inboxEnvironment(inbox, environment));
      receivers.push(receiver);
      await addressOf(receiver);
      return receiver;
    };
    await author.webhooks.create({
      url: `http://127.0.0.1:${port}/webhooks/act`,
      secret,
      watched: [repo],
      domains: ["repo"],
    });
    const pushes: string[] = [];
    for (let round = 0; round < kills; round += 1) {
      const receiver = await start(1 + (round % 3));
      const { oid } = await author.repo(repo).commit({ message: "Push", files: { "a.txt": String(round) } });
      pushes.push(oid);
      expect((await receiver.exited).signal).toBe("SIGKILL");
    }
    const last = await start(Number.POSITIVE_INFINITY);
    const actedOn = () => new Set(receivers.flatMap(({ lines }) => lines).flatMap(markerOf));
    await waitFor(async () => expect(await changesOf(author, repo)).toEqual(once(pushes)), { timeout: 30_000 });
    // Each push, and each change of the server, was delivered: the pull request and the commit.
    const reader = await openInbox({ url: inbox, now: Date.now, log: createMemoryLogger() });
    onTestFinished(async () => void (await reader.close(0)));
    const ends = ended({ succeeded: kills, ignored: 2 * kills });
    await waitFor(async () => expect((await reader.counts()).act).toEqual(ends), { timeout: 60_000 });
    expect(await changesOf(author, repo)).toEqual(once(pushes));
    expect([...actedOn()].sort()).toEqual(pushes.toSorted());
    expect(last.errorOutput).toBe("");
    console.log(`R8 ${name}: ${kills} kills, ${pushes.length} pushes, each with one comment, pull request, and commit`);
  });

  test("I24: ends the deliveries of its own changes as ignored, with the reason", async () => {
    const { hub, author, repo } = await startHub();
    const inbox = await createUrl();
    const receiver = startReceiverProcess(script, inboxEnvironment(inbox, { HUB_URL: hub.url, LEASE_MS: "1000" }));
    await author.webhooks.create({
      url: `${await addressOf(receiver)}/webhooks/act`,
      secret,
      watched: [repo],
      domains: ["repo"],
    });
    await author.repo(repo).commit({ message: "Push", files: { "a.txt": "pushed" } });
    const reader = await openInbox({ url: inbox, now: Date.now, log: createMemoryLogger(), access: "read" });
    onTestFinished(async () => void (await reader.close(0)));
    const ends = ended({ succeeded: 1, ignored: 2 });
    await waitFor(async () => expect((await reader.counts()).act).toEqual(ends), { timeout: 30_000 });
    const { deliveries } = await reader.list({ status: "ignored" });
    const attempts = deliveries.map((delivery) => delivery.attempts);
    expect(attempts).toEqual([ignoredOnce, ignoredOnce]);
    const logged = () => receiver.lines.flatMap(({ outcome }) => (typeof outcome === "string" ? [outcome] : []));
    // The lines arrive after their deliveries are stored.
    await waitFor(() => expect(logged().sort()).toEqual(["ignored", "ignored", "succeeded"]));
  });
});

const ignoredOnce = [expect.objectContaining({ outcome: "ignored", reason: "this server caused the event" })];

async function startHub() {
  const hub = await LocalHub.launch({
    attempts: Number.POSITIVE_INFINITY,
    backoff: 50,
    suspendAfter: Number.POSITIVE_INFINITY,
    triggersPerDay: Number.POSITIVE_INFINITY,
  });
  onTestFinished(() => hub.close());
  const author = new HubClient({ hubUrl: hub.url, token: "hf_local" });
  const body = JSON.stringify({ type: "model", name: "net" });
  await author.fetch("/api/repos/create", { method: "POST", body });
  const repo = { type: "model", name: "local-user/net" } as const;
  await author.repo(repo).openDiscussion({ title: "Reviews", marker: "reviews" });
  return { hub, author, repo };
}

type Repo = Awaited<ReturnType<typeof startHub>>["repo"];

function ended(counts: { succeeded: number; ignored: number }) {
  return { queued: 0, running: 0, dead: 0, cancelled: 0, ...counts };
}

/** The changes of the server for each push, sorted. */
interface Changes {
  comments: string[];
  pullRequests: string[];
  commits: string[];
}

function once(pushes: readonly string[]): Changes {
  const markers = pushes.toSorted();
  return { comments: markers, pullRequests: markers, commits: markers };
}

async function changesOf(author: HubClient, repo: Repo): Promise<Changes> {
  const own = author.repo(repo);
  const { events } = await own.discussion(1);
  const texts = events.flatMap((event) => (event.type === "comment" ? [event.data.latest.raw] : []));
  const pullRequests: string[] = [];
  for await (const { title } of own.discussions({ type: "pull_request" })) pullRequests.push(title);
  const commits: string[] = [];
  for await (const { title } of own.commits()) commits.push(title);
  const found = (all: readonly string[], pattern: RegExp) =>
    all.flatMap((text) => pattern.exec(text)?.slice(1) ?? []).sort();
  return {
    comments: found(texts, /^Seen (\w+)/),
    pullRequests: found(pullRequests, /^Review (\w+)/),
    commits: found(commits, /^Record (\w+)/),
  };
}

function markerOf({ msg, marker }: { msg: string; marker?: unknown }): string[] {
  return msg === "acted" ? [String(marker)] : [];
}
