import { NonRetriableError } from "hub-webhooks";
import { HubClient } from "hub-webhooks/client";
import { type Bot, createServer } from "./server.ts";

const { HF_TOKEN: token, MODEL_NAME, MODEL_URL, MODEL_TOKEN } = process.env;
if (!token || !MODEL_NAME) throw new Error("Set HF_TOKEN to a token of the bot, and MODEL_NAME to a chat model.");
const hub = new HubClient({ token });

// Never send the token of the Hub to another server.
const modelToken = MODEL_TOKEN || (MODEL_URL ? undefined : token);

const writeReply: Bot["writeReply"] = async ({ repo, title, comment }, signal) => {
  const response = await fetch(MODEL_URL || "https://router.huggingface.co/v1/chat/completions", {
    method: "POST",
    headers: { ...(modelToken && { authorization: `Bearer ${modelToken}` }), "content-type": "application/json" },
    body: JSON.stringify({
      model: MODEL_NAME,
      messages: [
        // Text of other users belongs in the user message only.
        { role: "system", content: "You answer comments in discussions of the Hugging Face Hub. Be brief and polite." },
        { role: "user", content: `In the discussion "${title}" about ${repo}:\n\n${comment}` },
      ],
    }),
    signal,
  });
  if (!response.ok) {
    const message = `The model server responded with ${response.status}.`;
    throw response.status === 429 || response.status >= 500 ? new Error(message) : new NonRetriableError(message);
  }
  const completion: { choices: { message: { content: string } }[] } = await response.json();
  const reply = completion.choices[0]?.message.content;
  if (!reply) throw new Error("The model returned no reply.");
  return reply;
};

const postComment: Bot["postComment"] = async ({ type, name, num }, text, signal) => {
  const response = await hub.fetch("/api/{type}s/{name}/discussions/{num}/comment", {
    method: "POST",
    params: { type, name, num },
    body: JSON.stringify({ comment: text }),
    signal,
  });
  await response.body?.cancel();
};

const account: Bot["account"] = await hub.whoami();

const ownComments: Bot["ownComments"] = async ({ type, name, num }, signal) => {
  const path = "/api/{type}s/{name}/discussions/{num}";
  const response = await hub.fetch(path, { params: { type, name, num }, signal });
  const { events = [] }: { events?: { author?: { name: string }; data?: { latest?: { raw: string } } }[] } =
    await response.json();
  const own = events.filter(({ author }) => author?.name === account.name);
  return own.map(({ data }) => data?.latest?.raw ?? "");
};

const server = createServer({ account, ownComments, writeReply, postComment });

export default server;
await server.launch();
