import { NonRetriableError } from "hub-webhooks";
import { HubClient } from "hub-webhooks/client";
import { createServer, type HubActions, type TextModel } from "./server.ts";

const { HF_TOKEN: token, MODEL_URL, MODEL_NAME, MODEL_TOKEN } = process.env;
if (!token || !MODEL_NAME) throw new Error("Set HF_TOKEN to the bot's token, and MODEL_NAME to a chat model.");
const client = new HubClient({ token });

// The Hub's own clients use these paths. hub-api.md does not specify them, so they may change.
const hub: HubActions = {
  async postComment({ repo, num }, text, signal) {
    const body = JSON.stringify({ comment: text });
    const path = "/api/{type}s/{name}/discussions/{num}/comment";
    const response = await client.fetch(path, { method: "POST", params: { ...repo, num }, body, signal });
    await response.body?.cancel();
  },
};

// The bot's token is only for the Hub. Another model server gets MODEL_TOKEN, or no token.
const modelToken = MODEL_TOKEN || (MODEL_URL ? undefined : token);

const model: TextModel = async ({ repo, title, comment }, signal) => {
  const messages = [
    // Text of other users, including the title, is not an instruction: keep it out of the system message.
    { role: "system", content: "You answer comments in discussions of the Hugging Face Hub. Be brief and polite." },
    { role: "user", content: `In the discussion "${title}" about ${repo}:\n\n${comment}` },
  ];
  const response = await fetch(MODEL_URL || "https://router.huggingface.co/v1/chat/completions", {
    method: "POST",
    headers: { ...(modelToken && { authorization: `Bearer ${modelToken}` }), "content-type": "application/json" },
    body: JSON.stringify({ model: MODEL_NAME, messages }),
    signal,
  });
  if (!response.ok) {
    const problem = `The model server answered ${response.status}.`;
    throw response.status === 429 || response.status >= 500 ? new Error(problem) : new NonRetriableError(problem);
  }
  const answer: { choices: { message: { content: string } }[] } = await response.json();
  const reply = answer.choices[0]?.message.content;
  if (!reply) throw new Error("The model returned no reply.");
  return reply;
};

const bot: { id: string; name: string } = await (await client.fetch("/api/whoami-v2")).json();
const server = createServer({ hub, model, bot });

export default server;
await server.launch();
