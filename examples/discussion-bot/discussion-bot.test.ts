import type { Logger } from "hub-webhooks";
import { HubClient } from "hub-webhooks/client";
import { type HubEvent, LocalHub } from "hub-webhooks/local-hub";
import { settled } from "hub-webhooks/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createServer, type HubActions, type TextModel } from "./server.ts";

/** The log messages of the server. */
const logged: unknown[] = [];
const note = (...line: unknown[]) => void logged.push(line.at(-1));
const logger: Logger = { debug: note, info: note, warn: note, error: note, child: () => logger };

const net = { type: "model", name: "acme/net" } as const;
const bot = { name: "helper.bot", id: "6530f1a2c3d4e5f60718293a" };
const postComment = vi.fn<HubActions["postComment"]>();
const model = vi.fn<TextModel>();
const secret = "s3cret";
const server = createServer({
  hub: { postComment },
  model,
  bot,
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
    url: `${url}/webhooks/discussion_bot`,
    secret,
    watched: [{ type: "org", name: "acme" }],
    domains: ["repo", "discussion"],
  });
});
afterAll(() => Promise.all([hub.close(), server.close()]));
beforeEach(() => {
  logged.length = 0;
  postComment.mockReset().mockResolvedValue();
  model.mockReset().mockResolvedValue("With pleasure.");
});

function say(content: string, { action = "create", ...fields }: { action?: string } & Partial<HubEvent> = {}) {
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
  test("posts the reply of the model to a comment that mentions it", async () => {
    const [delivery] = await say("@helper.bot which data is this from?");
    await settled(server);
    expect(delivery?.status).toBe(202);
    expect(model.mock.calls).toEqual([
      [
        { repo: "acme/net", title: "Which data?", comment: "@helper.bot which data is this from?" },
        expect.any(AbortSignal),
      ],
    ]);
    expect(postComment.mock.calls).toEqual([[{ repo: net, num: 4 }, "With pleasure.", expect.any(AbortSignal)]]);
  });

  test("replies to the first comment of a new discussion", async () => {
    await say("Could @Helper.Bot help?", { event: { scope: "discussion", action: "create" } });
    await settled(server);
    expect(postComment).toHaveBeenCalledOnce();
  });

  test.each(["Thanks (@helper.bot).", "ask @helper.bot, or @other", "one line\n@helper.bot"])(
    "recognizes the mention in %j",
    async (content) => {
      await say(content);
      await settled(server);
      expect(postComment).toHaveBeenCalledOnce();
    },
  );

  test.each([
    ["its own comment", () => say("@helper.bot said:", { edits: [{ path: "comment.author.id", value: bot.id }] })],
    [
      "a hidden comment",
      () =>
        say("@helper.bot hello", {
          edits: [
            { path: "comment.hidden", value: true },
            { path: "comment.content", remove: true },
          ],
        }),
    ],
    [
      "a hidden comment that still has its text",
      () => say("@helper.bot", { comment: { content: "@helper.bot", hidden: true } }),
    ],
    ["a comment that does not mention it", () => say("helper.bot is a nice name")],
    ["a longer name", () => say("@helper.bot-two and @helper.bot.three, hello")],
    ["another character in place of the dot", () => say("@helperxbot, hello")],
    ["an address", () => say("write to me@helper.bot")],
  ])("does not reply to %s", async (_what, happen) => {
    const [delivery] = await happen();
    await settled(server);
    expect(delivery?.status).toBe(202);
    expect(model).not.toHaveBeenCalled();
    expect(postComment).not.toHaveBeenCalled();
    expect(logged).toContainEqual(expect.stringMatching(/^Nothing to reply to: .*(@helper\.bot|own words)\.$/));
  });

  test.each([
    ["an edited comment", () => say("@helper.bot hello", { action: "update" })],
    ["a push", () => hub.push(net)],
    ["new settings", () => hub.trigger({ repo: net, event: { scope: "repo.config", action: "update" } })],
  ])("answers 200 to %s, and ignores it", async (_what, happen) => {
    const [delivery] = await happen();
    expect(delivery?.status).toBe(200);
    expect(delivery?.answer).toContain("ignored");
    expect(postComment).not.toHaveBeenCalled();
  });

  test("replies once to a repeated delivery", async () => {
    const [delivery] = await say("@helper.bot hello");
    await settled(server);
    await client.webhooks.replay(delivery?.webhookId ?? "", delivery?.logId ?? "");
    await settled(server);
    const [again] = hub.deliveries(delivery?.webhookId ?? "");
    expect(again?.response?.body).toContain('"duplicate":true');
    expect(postComment).toHaveBeenCalledOnce();
  });

  test.each([
    ["the model", model],
    ["the Hub", postComment],
  ])("retries when %s has failed", async (_what, action) => {
    action.mockRejectedValueOnce(new Error("503"));
    const [delivery] = await say("@helper.bot hello");
    await settled(server);
    expect(action).toHaveBeenCalledTimes(2);
    const stored = await server.inbox.get(delivery?.deliveryId ?? "");
    expect(stored?.attempts.map(({ outcome }) => outcome)).toEqual(["failed", "succeeded"]);
    expect(postComment).toHaveBeenLastCalledWith(expect.anything(), "With pleasure.", expect.anything());
  });
});
