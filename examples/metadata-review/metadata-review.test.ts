import type { Logger } from "hub-webhooks";
import { HubClient } from "hub-webhooks/client";
import { LocalHub } from "hub-webhooks/local-hub";
import { settled } from "hub-webhooks/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { reviewCard } from "./card.ts";
import { createServer, type HubActions } from "./server.ts";

const logged: unknown[] = [];
const note = (...line: unknown[]) => void logged.push(line.at(-1));
const logger: Logger = { debug: note, info: note, warn: note, error: note, child: () => logger };

const data = { type: "dataset", name: "acme/data" } as const;
const complete = "---\nlicense: mit\ntags: [audio]\ntask_categories:\n- text-classification\n---\n# Data\n";
const withoutLicense = complete.replace("license: mit\n", "");

/** What stands on the Hub. */
let card = "";
let reports: string[] = [];
const readCard = vi.fn<HubActions["readCard"]>();
const postReport = vi.fn<HubActions["postReport"]>();
const secret = "s3cret";
const server = createServer({
  hub: { readCard, postReport, latestReport: async () => reports.at(-1) },
  secret,
  logger,
  inbox: "sqlite::memory:",
  backoff: { first: 1 },
});

let hub: LocalHub;
let client: HubClient;

beforeAll(async () => {
  hub = await LocalHub.launch();
  client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
  const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
  await client.webhooks.create({
    url: `${url}/webhooks/metadata_review`,
    secret,
    watched: [{ type: "org", name: "acme" }],
    domains: ["repo", "discussion"],
  });
});
afterAll(() => Promise.all([hub.close(), server.close()]));
beforeEach(() => {
  logged.length = 0;
  card = "";
  reports = [];
  readCard.mockReset().mockImplementation(async () => card);
  postReport.mockReset().mockImplementation(async (_repo, report) => void reports.push(report));
});

async function pushCard(text: string, repo: { type: "dataset" | "model"; name: string } = data) {
  card = text;
  const [delivery] = await hub.push(repo);
  await settled(server);
  return delivery;
}

describe("metadata-review", () => {
  test("posts the missing metadata of a card", async () => {
    const delivery = await pushCard(withoutLicense);
    expect(delivery?.status).toBe(202);
    expect(postReport.mock.calls).toEqual([
      [data, "The metadata of the card lacks:\n\n- `license`: the terms of use", expect.any(AbortSignal)],
    ]);
  });

  test("posts nothing about a card that was always complete", async () => {
    await pushCard(complete);
    expect(readCard).toHaveBeenCalledOnce();
    expect(reports).toEqual([]);
    expect(logged).toContain("Nothing to post: the card is complete.");
  });

  test("posts again only when the report has changed", async () => {
    await pushCard(withoutLicense);
    await pushCard(`${withoutLicense}More words.\n`);
    expect(reports).toHaveLength(1);
    expect(logged).toContain("Nothing to post: the latest report says it already.");
    await pushCard(complete);
    await pushCard(complete);
    expect(reports).toHaveLength(2);
    expect(reports.at(-1)).toContain("complete");
    await pushCard("");
    expect(reports).toHaveLength(3);
  });

  test("requires a task for a model", async () => {
    await pushCard(complete, { type: "model", name: "acme/net" });
    expect(reports).toEqual(["The metadata of the card lacks:\n\n- `pipeline_tag`: the task of the model"]);
  });

  test.each([
    ["a pull request", () => hub.push(data, { updatedRefs: [{ ref: "refs/pr/1", oldSha: null, newSha: "1" }] })],
    [
      "the Hub's own conversion",
      () => hub.push(data, { updatedRefs: [{ ref: "refs/convert/parquet", oldSha: null, newSha: "1" }] }),
    ],
    ["a Space", () => hub.push({ type: "space", name: "acme/app" })],
    ["a bucket", () => hub.push({ type: "bucket", name: "acme/files" })],
    ["new settings", () => hub.trigger({ repo: data, event: { scope: "repo.config", action: "update" } })],
    ["its own report", () => hub.trigger({ repo: data, event: { scope: "discussion.comment", action: "create" } })],
  ])("answers 200 to %s, and ignores it", async (_what, happen) => {
    const [delivery] = await happen();
    expect(delivery?.status).toBe(200);
    expect(delivery?.answer).toContain("ignored");
    expect(readCard).not.toHaveBeenCalled();
  });

  test("posts no second report for a repeated delivery", async () => {
    const delivery = await pushCard(withoutLicense);
    await client.webhooks.replay(delivery?.webhookId ?? "", delivery?.logId ?? "");
    await settled(server);
    const [again] = hub.deliveries(delivery?.webhookId ?? "");
    expect(again?.response?.body).toContain('"duplicate":true');
    expect(readCard).toHaveBeenCalledOnce();
  });

  test("retries a report that could not be posted", async () => {
    postReport.mockRejectedValueOnce(new Error("the Hub answers 503"));
    const delivery = await pushCard(withoutLicense);
    expect(reports).toHaveLength(1);
    const stored = await server.inbox.get(delivery?.deliveryId ?? "");
    expect(stored?.attempts.map(({ outcome }) => outcome)).toEqual(["failed", "succeeded"]);
  });
});

describe("The review of a card", () => {
  test.each([
    ["lists in every form", "---\nlicense: [mit, apache-2.0]\ntags:\n  - a\ntask_categories: [\n  b\n]\n---\n"],
    ["Windows' line ends, and a byte order mark", `\uFEFF${complete.replaceAll("\n", "\r\n")}`],
    ["comments, quotes and other keys", `---\n# ours\nsize: 3\nlicense: "mit" # ok\n${withoutLicense.slice(4)}`],
  ])("understands %s", (_what, text) => {
    expect(reviewCard("dataset", text)).toMatchObject({ isComplete: true });
  });

  test.each(["", "null", "~", '""', "[]", "# to be said"])("treats a license of %j as missing", (value) => {
    const { report } = reviewCard("dataset", complete.replace("mit", value));
    expect(report).toBe("The metadata of the card lacks:\n\n- `license`: the terms of use");
  });

  test.each(["", "# Data\nlicense: mit", "text\n---\nlicense: mit\n---\n", "---\nlicense: mit\nno end"])(
    "finds nothing where there is no front matter: %j",
    (text) => {
      expect(reviewCard("model", text).report.match(/^- `\w+`/gm)).toEqual([
        "- `license`",
        "- `tags`",
        "- `pipeline_tag`",
      ]);
    },
  );
});
