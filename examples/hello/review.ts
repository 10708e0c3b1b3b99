import type { HubClient } from "hub-webhooks/client";
import type { LocalHub } from "hub-webhooks/local-hub";
import { settled } from "hub-webhooks/testing";
import server from "./server.ts";

const data = { type: "dataset", name: "local-user/data" } as const;

/** The cards that are committed one after the other, with the expected comment and status of the bot's discussion. */
export const cards = [
  {
    commit: { message: "Add a card", files: { "README.md": "# Speech data\n" } },
    expected: { status: "open", comments: ["Please add a license to the card."] },
  },
  {
    commit: { message: "Add a license", files: { "README.md": "---\nlicense: mit\n---\n# Speech data\n" } },
    expected: { status: "closed", comments: ["The card has a license. Thank you!"] },
  },
] as const;

/** Creates the dataset whose cards the bot reviews. */
export async function createDataset(hub: LocalHub) {
  await hub.trigger({ repo: data, event: { scope: "repo", action: "create" } });
}

/** Commits a card, waits until the bot has finished, and returns all discussions of the dataset. */
export async function commitCard(hub: LocalHub, client: HubClient, commit: (typeof cards)[number]["commit"]) {
  const repo = client.repo(data);
  await repo.commit(commit);
  await hub.settled();
  await settled(server);
  const found = [];
  for await (const { num } of repo.discussions()) {
    const { title, status, events } = await repo.discussion(num);
    const texts = events.flatMap((event) => (event.type === "comment" ? [event.data.latest.raw] : []));
    // The Hub does not show HTML comments, which contain the markers.
    const comments = texts.map((text) => text.replace(/\s*<!--.*-->/, "")).filter((text) => text !== "");
    found.push({ num, title, status, comments });
  }
  return found;
}
