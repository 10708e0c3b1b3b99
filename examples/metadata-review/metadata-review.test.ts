import type { Logger } from "hub-webhooks";
import { HubClient } from "hub-webhooks/client";
import { LocalHub } from "hub-webhooks/local-hub";
import { settled } from "hub-webhooks/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createServer, type HubActions, reviewCard } from "./server.ts";

const logged: unknown[] = [];
const record = (...line: unknown[]) => void logged.push(line.at(-1));
const logger: Logger = { debug: record, info: record, warn: record, error: record, child: () => logger };

const data = { type: "dataset", name: "acme/data" } as const;
const complete = "---\nlicense: mit\ntags: [audio]\ntask_categories:\n- text-classification\n---\n# Data\n";
const withoutLicense = complete.replace("license: mit\n", "");

/** The state of the Hub. */
let card = "";
let reports: string[] = [];
const readCard = vi.fn<HubActions["readCard"]>();
const postReport = vi.fn<HubActions["postReport"]>();
const secret = "s3cret";
const server = createServer({ readCard, postReport, latestReport: async () => reports.at(-1) }, { secret, logger });

let hub: LocalHub;
let client: HubClient;

beforeAll(async () => {
  hub = await LocalHub.launch();
  client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
  const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
  await client.webhooks.create({
    ...{ url: `${url}/webhooks/metadata_review`, secret },
    ...{ watched: [{ type: "org", name: "acme" }], domains: ["repo", "discussion"] },
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
  test("posts the missing metadata", async () => {
    const delivery = await pushCard(withoutLicense);
    expect(delivery?.status).toBe(202);
    expect(postReport.mock.calls).toEqual([
      [data, "Missing metadata in the card:\n\n- `license`: how the data may be used", expect.any(AbortSignal)],
    ]);
  });

  test("posts nothing about a card that was always complete", async () => {
    await pushCard(complete);
    expect(readCard).toHaveBeenCalledOnce();
    expect(reports).toEqual([]);
    expect(logged).toContain("Skipped: nothing new to report.");
  });

  test("posts again only when the report changes", async () => {
    await pushCard(withoutLicense);
    await pushCard(`${withoutLicense}More text.\n`);
    expect(reports).toHaveLength(1);
    await pushCard(complete);
    await pushCard(complete);
    expect(reports).toHaveLength(2);
    expect(reports.at(-1)).toContain("complete");
    await pushCard("");
    expect(reports).toHaveLength(3);
  });

  test("requires other keys of a model", async () => {
    await pushCard(complete, { type: "model", name: "acme/net" });
    expect(reports).toEqual(["Missing metadata in the card:\n\n- `pipeline_tag`: the task of the model"]);
  });

  test.each([
    ["a pull request", () => hub.push(data, { updatedRefs: [{ ref: "refs/pr/1", oldSha: null, newSha: "1" }] })],
    [
      "the conversion to Parquet",
      () => hub.push(data, { updatedRefs: [{ ref: "refs/convert/parquet", oldSha: null, newSha: "1" }] }),
    ],
    ["a Space", () => hub.push({ type: "space", name: "acme/app" })],
    ["a bucket", () => hub.push({ type: "bucket", name: "acme/files" })],
    ["a change of settings", () => hub.trigger({ repo: data, event: { scope: "repo.config", action: "update" } })],
    ["its own report", () => hub.trigger({ repo: data, event: { scope: "discussion.comment", action: "create" } })],
  ])("ignores %s", async (_event, send) => {
    const [delivery] = await send();
    expect(delivery?.status).toBe(200);
    expect(delivery?.answer).toContain("ignored");
    expect(readCard).not.toHaveBeenCalled();
  });

  test("reviews once when the Hub sends a delivery again", async () => {
    const delivery = await pushCard(withoutLicense);
    await client.webhooks.replay(delivery?.webhookId ?? "", delivery?.logId ?? "");
    await settled(server);
    const [again] = hub.deliveries(delivery?.webhookId ?? "");
    expect(again?.response?.body).toContain('"duplicate":true');
    expect(readCard).toHaveBeenCalledOnce();
  });

  test("retries a report that could not be posted", async () => {
    postReport.mockRejectedValueOnce(new Error("503"));
    const delivery = await pushCard(withoutLicense);
    expect(reports).toHaveLength(1);
    const stored = await server.inbox.get(delivery?.deliveryId ?? "");
    expect(stored?.attempts.map(({ outcome }) => outcome)).toEqual(["failed", "succeeded"]);
  });
});

describe("reviewCard", () => {
  test.each([
    ["all forms of lists", "---\nlicense: [mit, apache-2.0]\ntags:\n  - a\ntask_categories: [\n  b\n]\n---\n"],
    ["CRLF and a byte order mark", `\uFEFF${complete.replaceAll("\n", "\r\n")}`],
    ["comments, quotes and other keys", `---\n# comment\nsize: 3\nlicense: "mit" # ok\n${withoutLicense.slice(4)}`],
  ])("reads %s", (_form, text) => {
    expect(reviewCard("dataset", text)).toBe("The metadata of the card is complete.");
  });

  test.each(["", "null", "~", '""', "[]", "# to do"])("counts a license of %j as missing", (value) => {
    expect(reviewCard("dataset", complete.replace("mit", value))).toBe(
      "Missing metadata in the card:\n\n- `license`: how the data may be used",
    );
  });

  test.each(["", "# Data\nlicense: mit", "text\n---\nlicense: mit\n---\n", "---\nlicense: mit\nno end"])(
    "requires front matter: %j",
    (text) => {
      expect(reviewCard("model", text).match(/^- `\w+`/gm)).toEqual(["- `license`", "- `tags`", "- `pipeline_tag`"]);
    },
  );
});
