import { PermanentError } from "hub-webhooks";
import { createServer, type HubActions, type Repo } from "./server.ts";

const { HF_TOKEN: token, BOT_NAME: author, HF_ENDPOINT } = process.env;
if (!token || !author) throw new Error("Set HF_TOKEN, and BOT_NAME to the name of the account that it belongs to.");
const endpoint = HF_ENDPOINT || "https://huggingface.co";
const title = "Metadata review";

// hub-api.md specifies nothing of what is called here: these are the calls of the Hub's own clients, and may change.
async function call(path: string, { body, signal }: { body?: object; signal: AbortSignal }): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const sent = body ? { method: "POST", body: JSON.stringify(body) } : {};
  const response = await fetch(`${endpoint}${path}`, { ...sent, headers, signal });
  if (response.ok || (response.status === 404 && !body)) return response;
  const problem = `The Hub answers ${response.status} to ${path}.`;
  throw response.status === 429 || response.status >= 500 ? new Error(problem) : new PermanentError(problem);
}

const discussionsOf = ({ type, name }: Repo) => `/api/${type}s/${name}/discussions`;

/** Finds the discussion that the reports stand in, on the first page of the bot's own. */
async function findDiscussion(repo: Repo, signal: AbortSignal): Promise<number | undefined> {
  const response = await call(`${discussionsOf(repo)}?author=${encodeURIComponent(author ?? "")}`, { signal });
  const found: { discussions?: { num: number; title: string }[] } = await response.json();
  return found.discussions?.find((discussion) => discussion.title === title)?.num;
}

const hub: HubActions = {
  async readCard({ type, name }, signal) {
    const response = await call(`${type === "model" ? "" : "/datasets"}/${name}/raw/main/README.md`, { signal });
    return response.ok ? response.text() : "";
  },
  async latestReport(repo, signal) {
    const num = await findDiscussion(repo, signal);
    if (num === undefined) return undefined;
    const response = await call(`${discussionsOf(repo)}/${num}`, { signal });
    const { events = [] }: { events?: { author?: { name: string }; data?: { latest?: { raw: string } } }[] } =
      await response.json();
    return events.findLast((event) => event.author?.name === author && event.data?.latest)?.data?.latest?.raw.trim();
  },
  async postReport(repo, report, signal) {
    const num = await findDiscussion(repo, signal);
    if (num !== undefined) await call(`${discussionsOf(repo)}/${num}/comment`, { body: { comment: report }, signal });
    else await call(discussionsOf(repo), { body: { title, description: report, pullRequest: false }, signal });
  },
};

const server = createServer({ hub });

export default server;
await server.launch();
