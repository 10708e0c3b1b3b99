import { WebhooksServer } from "../../src/index.ts";
import { createNodeLogger } from "../../src/receiver/node/node-logger.ts";
import { openFaultInbox } from "./inbox-opener.ts";

/*
 * Runs a receiver whose handler comments, opens a pull request, and commits for each push. The process kills itself after the Hub
 * has answered its `KILL_AT`th change, before the client receives the answer.
 */

const { INBOX_URL: url = "", HUB_URL: hubUrl = "", LEASE_MS, KILL_AT = "Infinity" } = process.env;

const logger = createNodeLogger();
let changes = 0;

const server = new WebhooksServer({
  logger,
  inbox: await openFaultInbox(url, { leaseMs: Number(LEASE_MS), now: Date.now, log: logger }),
  hub: {
    hubUrl,
    token: "hf_local",
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      const { pathname } = new URL(String(input));
      if (/\/(?:comment|commit\/[^/]+)$/.test(pathname)) {
        changes += 1;
        if (changes >= Number(KILL_AT)) process.kill(process.pid, "SIGKILL");
      }
      return response;
    },
  },
});

server.webhook(
  "act",
  { scope: "repo.content", ignoreSelf: true, background: true, attempts: 1_000, backoff: { first: 1, max: 1 } },
  async ({ repo, updatedRefs }, { hub, log, signal }) => {
    const marker = updatedRefs?.[0]?.newSha ?? "";
    log.info({ marker }, "acted");
    const own = hub.repo(repo);
    await own.upsertComment(1, { marker, text: `Seen ${marker}`, signal });
    await own.openPullRequest({ title: `Review ${marker}`, files: { [`${marker}.md`]: marker }, marker, signal });
    await own.commit({ message: `Record ${marker}`, files: { [`${marker}.txt`]: marker }, signal });
  },
);

await server.launch();
