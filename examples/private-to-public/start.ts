import { HubClient } from "hub-webhooks/client";
import { createServer, type HubActions } from "./server.ts";

const { HF_TOKEN: token } = process.env;
if (!token) throw new Error("Set HF_TOKEN to a token that can write discussions.");
const client = new HubClient({ token });

const hub: HubActions = {
  // The Hub's own clients use this path. hub-api.md does not specify it, so it may change.
  async openDiscussion({ type, name }, { title, text }, signal) {
    const body = JSON.stringify({ title, description: text, pullRequest: false });
    const path = "/api/{type}s/{name}/discussions";
    const response = await client.fetch(path, { method: "POST", params: { type, name }, body, signal });
    await response.body?.cancel();
  },
};

const server = createServer({ hub });

export default server;
await server.launch();
