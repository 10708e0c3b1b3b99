import { PermanentError } from "hub-webhooks";
import { createServer, type HubActions, type TextModel } from "./server.ts";

const { HF_TOKEN: token, HF_ENDPOINT, MODEL_URL, MODEL_NAME } = process.env;
if (!token || !MODEL_NAME) throw new Error("Set HF_TOKEN, the bot's own, and MODEL_NAME to a model that can chat.");
const endpoint = HF_ENDPOINT || "https://huggingface.co";
const modelUrl = MODEL_URL || "https://router.huggingface.co/v1/chat/completions";

// hub-api.md specifies nothing of what is called here: these are the calls of the Hub's own clients, and may change.
async function call(url: string, { body, signal }: { body?: object; signal?: AbortSignal } = {}): Promise<Response> {
  const response = await fetch(url, {
    method: body ? "POST" : "GET",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: body ? JSON.stringify(body) : null,
    signal: signal ?? null,
  });
  if (response.ok) return response;
  const problem = `${url} answers ${response.status}.`;
  throw response.status === 429 || response.status >= 500 ? new Error(problem) : new PermanentError(problem);
}

const hub: HubActions = {
  async postComment({ repo, num }, text, signal) {
    const url = `${endpoint}/api/${repo.type}s/${repo.name}/discussions/${num}/comment`;
    await call(url, { body: { comment: text }, signal });
  },
};

const model: TextModel = async ({ repo, title, comment }, signal) => {
  const messages = [
    { role: "system", content: `You answer in the discussion "${title}" about ${repo}. Be brief and polite.` },
    { role: "user", content: comment },
  ];
  const response = await call(modelUrl, { body: { model: MODEL_NAME, messages }, signal });
  const answer: { choices: { message: { content: string } }[] } = await response.json();
  const reply = answer.choices[0]?.message.content;
  if (!reply) throw new Error("The model said nothing.");
  return reply;
};

const bot: { id: string; name: string } = await (await call(`${endpoint}/api/whoami-v2`)).json();
const server = createServer({ hub, model, bot });

export default server;
await server.launch();
