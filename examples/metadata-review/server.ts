import { WebhooksServer, type WebhooksServerOptions } from "hub-webhooks";

/** A model or a dataset. */
export interface Repo {
  type: "model" | "dataset";
  name: string;
}

/** The calls to the Hub. `start.ts` implements them. */
export interface HubActions {
  /** Reads README.md on the main branch; empty if there is none. */
  readCard(repo: Repo, signal: AbortSignal): Promise<string>;
  /** Finds the latest report that the bot posted. */
  latestReport(repo: Repo, signal: AbortSignal): Promise<string | undefined>;
  postReport(repo: Repo, report: string, signal: AbortSignal): Promise<void>;
}

/** The metadata that a card must have, with a description of each key. */
const required = {
  model: { license: "how the model may be used", tags: "search terms", pipeline_tag: "the task of the model" },
  dataset: { license: "how the data may be used", tags: "search terms", task_categories: "the tasks it is for" },
};

const complete = "The metadata of the card is complete.";

/** Checks the front matter of a card. The same card always gives the same report. */
export function reviewCard(type: Repo["type"], card: string): string {
  const given = filledKeys(card);
  const missing = Object.entries(required[type]).filter(([key]) => !given.has(key));
  if (missing.length === 0) return complete;
  return ["Missing metadata in the card:", "", ...missing.map(([key, about]) => `- \`${key}\`: ${about}`)].join("\n");
}

/** Finds the top-level keys that have a value. For checks of the values, use a YAML parser. */
function filledKeys(card: string): ReadonlySet<string> {
  const [, block = ""] = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(card) ?? [];
  const filled = new Set<string>();
  let key = "";
  for (const line of block.split(/\r?\n/)) {
    const [, name, value = line] = /^([\w-]+):(.*)$/.exec(line) ?? [];
    key = name ?? key;
    const bare = value.replace(/(^|\s)#.*$/, "").replace(/[-\s[\]{}"',]/g, "");
    if (bare !== "" && bare !== "null" && bare !== "~") filled.add(key);
  }
  return filled;
}

/** Creates a server that reviews the card on each push to the main branch, and posts a report when it changes. */
export function createServer(hub: HubActions, options?: WebhooksServerOptions): WebhooksServer {
  const server = new WebhooksServer(options);
  server.webhook(
    "metadata_review",
    {
      scope: "repo.content",
      repo: ["model:**", "dataset:**"],
      ref: "refs/heads/main",
      background: true,
      // Two reviews of one repository at the same time would both post.
      concurrency: 1,
    },
    async ({ repo: { type, name } }, { log, signal }) => {
      const repo: Repo = { type: type === "model" ? "model" : "dataset", name };
      // The current card, not the card of the push: a late delivery must not report an old state.
      const report = reviewCard(repo.type, await hub.readCard(repo, signal));
      const latest = await hub.latestReport(repo, signal);
      // A card that was always complete needs no report.
      if (report === (latest ?? complete)) return log.info({ repo: name }, "Skipped: nothing new to report.");
      await hub.postReport(repo, report, signal);
      log.info({ repo: name }, "Report posted.");
    },
  );
  return server;
}

/** `hub-webhooks dev` runs this server, which reviews a sample card and prints what it would do. */
export default createServer({
  readCard: async () => "---\nlicense: mit\n---\n# Sample card",
  latestReport: async () => undefined,
  postReport: async ({ name }, report) => console.log(`Dry run: would post to ${name}:\n${report}`),
});
