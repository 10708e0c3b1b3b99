import type { McpSettings } from "../../hub/settings.ts";
import { deriveId } from "../ids.ts";
import type { StoredSettings } from "../store/records.ts";
import type { Store } from "../store/store.ts";

type WatchedItem = StoredSettings["watched"][number];

interface UserOptions {
  store: Store;
  user: string;
}

const settingsId = "settings";

/** Returns a user's settings, or empty settings if the user has not changed any. */
export function getSettings({ store, user }: UserOptions): StoredSettings {
  return store.settings.get({ owner: user, id: settingsId }) ?? { notifications: {}, watched: [] };
}

/** Updates a user's notification settings. Omitted settings keep their values. */
export function updateNotificationSettings(
  options: UserOptions,
  { notifications, prepaidAmount }: Pick<StoredSettings, "notifications" | "prepaidAmount">,
): void {
  const before = getSettings(options);
  save(options, {
    ...before,
    notifications: { ...before.notifications, ...notifications },
    ...(prepaidAmount !== undefined && { prepaidAmount }),
  });
}

/** Adds and deletes a user's watched items. An item that is in both lists is deleted. */
export function updateWatchSettings(options: UserOptions, change: { add: WatchedItem[]; delete: WatchedItem[] }): void {
  const before = getSettings(options);
  const watched = new Map([...before.watched, ...change.add].map((item) => [keyOf(item), item]));
  for (const item of change.delete) watched.delete(keyOf(item));
  save(options, { ...before, watched: [...watched.values()] });
}

/** Example tools of the Hub's MCP server. The tools cannot be called, because the local Hub has no MCP server. */
export const mcpTools: McpSettings = {
  builtInTools: ["hub_repo_details", "hub_repo_search", "paper_search", "space_search"],
  spaceTools: [
    {
      _id: deriveId("space tool acme/playground"),
      name: "acme/playground",
      emoji: "🛝",
      subdomain: "acme-playground",
    },
    {
      _id: deriveId("space tool local-user/translator"),
      name: "local-user/translator",
      emoji: "🌍",
      subdomain: "local-user-translator",
    },
  ],
};

function save({ store, user }: UserOptions, record: StoredSettings): void {
  store.settings.put({ owner: user, id: settingsId, record });
}

function keyOf({ type, id }: WatchedItem): string {
  return `${type} ${id}`;
}
