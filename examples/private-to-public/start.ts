import { PermanentError } from "hub-webhooks";
import { createServer, type HubActions } from "./server.ts";

const { HF_TOKEN: token, HF_ENDPOINT } = process.env;
if (!token) throw new Error("Set HF_TOKEN to a token that may write discussions.");
const endpoint = HF_ENDPOINT || "https://huggingface.co";

const hub: HubActions = {
  // hub-api.md does not specify this call: it is the one of the Hub's own clients, and may change.
  async openDiscussion({ type, name }, { title, text }, signal) {
    const response = await fetch(`${endpoint}/api/${type}s/${name}/discussions`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ title, description: text, pullRequest: false }),
      signal,
    });
    if (response.ok) return;
    const problem = `The Hub answers ${response.status} to a discussion on ${type} ${name}.`;
    throw response.status === 429 || response.status >= 500 ? new Error(problem) : new PermanentError(problem);
  },
};

const server = createServer({ hub });

export default server;
await server.launch();
