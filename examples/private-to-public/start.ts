import { HubClient } from "hub-webhooks/client";
import { createServer, type OpenDiscussion } from "./server.ts";

const { HF_TOKEN: token } = process.env;
if (!token) throw new Error("Set HF_TOKEN to a token with permission to write discussions.");
const hub = new HubClient({ token });

const openDiscussion: OpenDiscussion = async ({ type, name }, { title, text }, signal) => {
  const response = await hub.fetch("/api/{type}s/{name}/discussions", {
    method: "POST",
    params: { type, name },
    body: JSON.stringify({ title, description: text, pullRequest: false }),
    signal,
  });
  await response.body?.cancel();
};

const server = createServer(openDiscussion);

export default server;
await server.launch();
