import { HubClient, HubError } from "hub-webhooks/client";
import { createServer, type HubActions, type Repo } from "./server.ts";

const { HF_TOKEN: token, BOT_NAME: author } = process.env;
if (!token || !author) throw new Error("Set HF_TOKEN, and BOT_NAME to the account name of the token.");
const client = new HubClient({ token });
const title = "Metadata review";
const discussions = "/api/{type}s/{name}/discussions";

/** Finds the discussion with the reports. */
async function findDiscussion(repo: Repo, signal: AbortSignal): Promise<number | undefined> {
  const path = `${discussions}?author=${encodeURIComponent(author ?? "")}`;
  const response = await client.fetch(path, { params: { ...repo }, signal });
  const found: { discussions?: { num: number; title: string }[] } = await response.json();
  return found.discussions?.find((discussion) => discussion.title === title)?.num;
}

const hub: HubActions = {
  async readCard({ type, name }, signal) {
    try {
      const path = `${type === "model" ? "" : "/datasets"}/{name}/raw/main/README.md`;
      return await (await client.fetch(path, { params: { name }, signal })).text();
    } catch (error) {
      if (HubError.isInstance(error) && error.code === "HUB_NOT_FOUND") return "";
      throw error;
    }
  },
  async latestReport(repo, signal) {
    const num = await findDiscussion(repo, signal);
    if (num === undefined) return undefined;
    const response = await client.fetch(`${discussions}/{num}`, { params: { ...repo, num }, signal });
    const { events = [] }: { events?: { author?: { name: string }; data?: { latest?: { raw: string } } }[] } =
      await response.json();
    return events.findLast((event) => event.author?.name === author && event.data?.latest)?.data?.latest?.raw.trim();
  },
  async postReport(repo, report, signal) {
    const num = await findDiscussion(repo, signal);
    const [path, body] =
      num === undefined
        ? [discussions, { title, description: report, pullRequest: false }]
        : [`${discussions}/${num}/comment`, { comment: report }];
    const response = await client.fetch(path, {
      method: "POST",
      params: { ...repo },
      body: JSON.stringify(body),
      signal,
    });
    await response.body?.cancel();
  },
};

const server = createServer(hub);

export default server;
await server.launch();
