import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { NonRetriableError } from "hub-webhooks";
import { HubClient } from "hub-webhooks/client";
import { LocalHub } from "hub-webhooks/local-hub";
import { settled } from "hub-webhooks/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { writeReply } from "./reply.ts";
import server from "./server.ts";

const net = { type: "model", name: "acme/net" } as const;
const fixedReply = "Thank you for the message. A maintainer will answer soon.";

let hub: LocalHub;
/** A user who writes to the bot, whose account is `local-user`. */
let user: HubClient;
let count = 0;

beforeAll(async () => {
  hub = await LocalHub.launch();
  user = new HubClient({ hubUrl: hub.url, token: "hf_other" });
  const secrets = { HF_TOKEN: "hf_local", WEBHOOK_SECRET: "s3cret" };
  Object.assign(process.env, { HF_ENDPOINT: hub.url, LOG_LEVEL: "silent", ...secrets });
  const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
  const webhook = { url: `${url}/webhooks/discussion_bot`, secret: "s3cret" };
  const bot = new HubClient({ hubUrl: hub.url, token: "hf_local" });
  // Two webhooks deliver each comment twice.
  for (const watched of [net, { type: "org", name: "acme" }] as const) {
    await bot.webhooks.create({ ...webhook, watched: [watched], domains: ["discussion"] });
  }
  await hub.trigger({ repo: net, event: { scope: "repo", action: "create" } });
});
afterAll(() => Promise.all([hub.close(), server.close()]));

async function ask(description: string): Promise<number> {
  const { num } = await user.repo(net).openDiscussion({ title: "A question", text: description, marker: `${++count}` });
  await allSettled();
  return num;
}

async function allSettled() {
  await hub.settled();
  await settled(server);
  // The reply of the bot is an event, too.
  await hub.settled();
  await settled(server);
}

/** Returns the comments of a discussion without the hidden markers, and without the description. */
async function replies(num: number) {
  const { events } = await user.repo(net).discussion(num);
  const comments = events.flatMap((event) => (event.type === "comment" ? [event] : []));
  return comments.slice(1).map(({ author, data }) => [author?.name, data.latest.raw.replace(/\s*<!--.*-->/, "")]);
}

describe("The bot", () => {
  test("replies once to a discussion that mentions it, although two webhooks deliver the event", async () => {
    const num = await ask("@local-user, which license does the model have?");
    expect(await replies(num)).toEqual([["local-user", fixedReply]]);
  });

  test("replies to each comment that mentions it", async () => {
    const num = await ask("Hello");
    expect(await replies(num)).toEqual([]);
    await user.repo(net).comment(num, "And you, @Local-User?");
    await user.repo(net).comment(num, "@local-user!");
    await allSettled();
    const bot = (await replies(num)).filter(([author]) => author === "local-user");
    expect(bot).toEqual([
      ["local-user", fixedReply],
      ["local-user", fixedReply],
    ]);
  });

  test.each(["@local-user-two", "me@local-user.example", "local-user", "@someone"])("ignores %s", async (text) => {
    expect(await replies(await ask(text))).toEqual([]);
  });

  test("ignores its own comments, and edits", async () => {
    const num = await ask("Hello");
    const bot = new HubClient({ hubUrl: hub.url, token: "hf_local" });
    const { id } = await user.repo(net).comment(num, "One moment.");
    await user.repo(net).editComment(num, id, "@local-user, one moment.");
    await allSettled();
    expect(await replies(num)).toHaveLength(1);
    expect((await bot.repo(net).discussion(num)).events).toHaveLength(2);
  });
});

describe("A reply from a model", () => {
  let model: Server;
  let answer: { status: number; body: unknown };
  let request: { authorization: string | undefined; body: string };
  const signal = AbortSignal.timeout(10_000);
  const question = { repo: "acme/net", title: "License", comment: "Which license?" };

  beforeAll(async () => {
    model = createServer(async (incoming, response) => {
      request = { authorization: incoming.headers.authorization, body: await text(incoming) };
      response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(answer.body));
    });
    await new Promise<void>((resolve) => void model.listen(0, "127.0.0.1", resolve));
    const address = model.address();
    const port = typeof address === "object" ? address?.port : undefined;
    Object.assign(process.env, { MODEL_NAME: "small", MODEL_URL: `http://127.0.0.1:${port}/`, MODEL_TOKEN: "" });
  });
  afterAll(() => {
    model.close();
    for (const name of ["MODEL_NAME", "MODEL_URL", "MODEL_TOKEN"]) delete process.env[name];
  });
  beforeEach(() => {
    answer = { status: 200, body: { choices: [{ message: { content: "MIT" } }] } };
  });

  test("is requested without the token of the Hub, with the comment in the user message only", async () => {
    expect(await writeReply(question, signal)).toBe("MIT");
    expect(request.authorization).toBeUndefined();
    const { model: name, messages } = JSON.parse(request.body);
    expect(name).toBe("small");
    expect(messages[0].content).not.toContain("Which license?");
    expect(messages[1]).toMatchObject({ role: "user", content: expect.stringContaining("Which license?") });
  });

  test.each([
    [429, true],
    [503, true],
    [400, false],
  ])("with status %i can be retried: %s", async (status, isRetriable) => {
    answer = { status, body: {} };
    const error = await writeReply(question, signal).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(Error);
    expect(error instanceof NonRetriableError).toBe(!isRetriable);
  });

  test("must not be empty", async () => {
    answer.body = { choices: [] };
    await expect(writeReply(question, signal)).rejects.toThrow(/no reply/);
  });
});
