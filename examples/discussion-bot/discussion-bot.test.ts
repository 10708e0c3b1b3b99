import type { Logger } from "hub-webhooks";
import { HubClient } from "hub-webhooks/client";
import { type HubEvent, LocalHub } from "hub-webhooks/local-hub";
import { deliveryRequest, settled, webhookPayload } from "hub-webhooks/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Bot, createServer } from "./server.ts";

const logged: unknown[] = [];
const record = (...line: unknown[]) => void logged.push(line.at(-1));
const logger: Logger = { debug: record, info: record, warn: record, error: record, child: () => logger };

const net = { type: "model", name: "acme/net" } as const;
const account = { name: "helper.bot", id: "6530f1a2c3d4e5f60718293a" };
const postComment = vi.fn<Bot["postComment"]>();
const ownComments = vi.fn<Bot["ownComments"]>();
const writeReply = vi.fn<Bot["writeReply"]>();
const secret = "s3cret";
const server = createServer({ account, ownComments, writeReply, postComment }, { secret, logger });

let hub: LocalHub;
let client: HubClient;

beforeAll(async () => {
  hub = await LocalHub.launch();
  client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
  const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
  await client.webhooks.create({
    ...{ url: `${url}/webhooks/discussion_bot`, secret },
    ...{ watched: [{ type: "org", name: "acme" }], domains: ["repo", "discussion"] },
  });
});
afterAll(() => Promise.all([hub.close(), server.close()]));
beforeEach(() => {
  logged.length = 0;
  ownComments.mockReset().mockResolvedValue([]);
  postComment.mockReset().mockResolvedValue();
  writeReply.mockReset().mockResolvedValue("With pleasure.");
});

function comment(content: string, { action = "create", ...fields }: { action?: string } & Partial<HubEvent> = {}) {
  const event = { scope: "discussion.comment", action };
  return hub.trigger({
    repo: net,
    event,
    discussion: { num: 4, title: "Which data?" },
    comment: { content },
    ...fields,
  });
}

describe("discussion-bot", () => {
  test("replies to a comment that mentions it, with a text of the model", async () => {
    const [delivery] = await comment("@helper.bot which data is this from?");
    await settled(server);
    expect(delivery?.status).toBe(202);
    expect(writeReply.mock.calls).toEqual([
      [
        { repo: "acme/net", title: "Which data?", comment: "@helper.bot which data is this from?" },
        expect.any(AbortSignal),
      ],
    ]);
    const reply = expect.stringMatching(/^With pleasure\.\n\n<!-- reply to [0-9a-f]{24} -->$/);
    expect(postComment.mock.calls).toEqual([[{ ...net, num: 4 }, reply, expect.any(AbortSignal)]]);
  });

  test("replies to the first comment of a new discussion", async () => {
    await comment("Could @Helper.Bot help?", { event: { scope: "discussion", action: "create" } });
    await settled(server);
    expect(postComment).toHaveBeenCalledOnce();
  });

  test.each(["Thanks (@helper.bot).", "ask @helper.bot, or @other", "one line\n@helper.bot"])(
    "finds the mention in %j",
    async (content) => {
      await comment(content);
      await settled(server);
      expect(postComment).toHaveBeenCalledOnce();
    },
  );

  test.each([
    [
      "its own comment",
      () => comment("@helper.bot said:", { edits: [{ path: "comment.author.id", value: account.id }] }),
    ],
    [
      "a hidden comment",
      () =>
        comment("@helper.bot hello", {
          edits: [
            { path: "comment.hidden", value: true },
            { path: "comment.content", remove: true },
          ],
        }),
    ],
    [
      "a hidden comment that still has its text",
      () => comment("@helper.bot", { comment: { content: "@helper.bot", hidden: true } }),
    ],
    ["a comment that does not mention it", () => comment("helper.bot is a nice name")],
    ["a longer name", () => comment("@helper.bot-two and @helper.bot.three, hello")],
    ["another character instead of the dot", () => comment("@helperxbot, hello")],
    ["an email address", () => comment("write to me@helper.bot")],
  ])("skips %s", async (_event, send) => {
    const [delivery] = await send();
    await settled(server);
    expect(delivery?.status).toBe(202);
    expect(writeReply).not.toHaveBeenCalled();
    expect(postComment).not.toHaveBeenCalled();
    expect(logged).toContainEqual(
      expect.stringMatching(/^Skipped: (no mention of @helper\.bot|the bot's own comment)\.$/),
    );
  });

  test.each([
    ["an edited comment", () => comment("@helper.bot hello", { action: "update" })],
    ["a push", () => hub.push(net)],
    ["a change of settings", () => hub.trigger({ repo: net, event: { scope: "repo.config", action: "update" } })],
  ])("ignores %s", async (_event, send) => {
    const [delivery] = await send();
    expect(delivery?.status).toBe(200);
    expect(delivery?.answer).toContain("ignored");
    expect(postComment).not.toHaveBeenCalled();
  });

  test("replies once when the Hub sends a delivery again", async () => {
    const [delivery] = await comment("@helper.bot hello");
    await settled(server);
    await client.webhooks.replay(delivery?.webhookId ?? "", delivery?.logId ?? "");
    await settled(server);
    const [again] = hub.deliveries(delivery?.webhookId ?? "");
    expect(again?.response?.body).toContain('"duplicate":true');
    expect(postComment).toHaveBeenCalledOnce();
  });

  test("replies once when two webhooks deliver the same comment at the same time", async () => {
    const comments: string[] = [];
    ownComments.mockImplementation(async () => [...comments]);
    postComment.mockImplementation(async (_discussion, text) => void comments.push(text));
    const payload = webhookPayload("discussion.comment", { repo: net, comment: { content: "@helper.bot hello" } });
    const endpoint = "discussion_bot";
    const requests = ["first", "second"].map((id) => deliveryRequest({ endpoint, payload, secret, id }));
    const responses = await Promise.all(requests.map((request) => server.fetch(request)));
    expect(responses.map(({ status }) => status)).toEqual([202, 202]);
    await settled(server);
    expect(postComment).toHaveBeenCalledOnce();
    expect(logged).toContainEqual("Skipped: already replied.");
  });

  test.each([
    ["the model", writeReply],
    ["the Hub", postComment],
  ])("retries when %s failed", async (_part, action) => {
    action.mockRejectedValueOnce(new Error("503"));
    const [delivery] = await comment("@helper.bot hello");
    await settled(server);
    expect(action).toHaveBeenCalledTimes(2);
    const stored = await server.inbox.get(delivery?.deliveryId ?? "");
    expect(stored?.attempts.map(({ outcome }) => outcome)).toEqual(["failed", "succeeded"]);
    expect(postComment).toHaveBeenLastCalledWith(
      expect.anything(),
      expect.stringContaining("With pleasure."),
      expect.anything(),
    );
  });

  test("replies once if the process crashes after the reply is posted", async () => {
    const id = "6398872887bfcfb93a306f18";
    ownComments.mockResolvedValue(["Another reply.", `With pleasure.\n\n<!-- reply to ${id} -->`]);
    await comment("@helper.bot hello", { edits: [{ path: "comment.id", value: id }] });
    await settled(server);
    expect(logged).toContainEqual("Skipped: already replied.");
    expect(postComment).not.toHaveBeenCalled();
  });
});
