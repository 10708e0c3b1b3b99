import type { McpSettings } from "../../hub/settings.ts";
import { objectIdOf } from "../ids.ts";
import type { StoredSettings } from "../store/records.ts";
import type { Store } from "../store/store.ts";

type WatchedItem = StoredSettings["watched"][number];

/** Whose settings, and where they are kept. */
export interface SettingsOf {
  store: Store;
  user: string;
}

const id = "settings";

/** The settings of a user, who may not have set any yet. */
export function settingsOf({ store, user }: SettingsOf): StoredSettings {
  return store.settings.get({ owner: user, id }) ?? { notifications: {}, watched: [] };
}

/** Changes what a user is notified of. What is left out stays as it is. */
export function updateNotificationSettings(
  of: SettingsOf,
  { notifications, prepaidAmount }: Pick<StoredSettings, "notifications" | "prepaidAmount">,
): void {
  const before = settingsOf(of);
  save(of, {
    ...before,
    notifications: { ...before.notifications, ...notifications },
    ...(prepaidAmount !== undefined && { prepaidAmount }),
  });
}

/** Changes what a user watches. An item that is both added and deleted is not watched afterwards. */
export function updateWatchSettings(of: SettingsOf, change: { add: WatchedItem[]; delete: WatchedItem[] }): void {
  const before = settingsOf(of);
  const watched = new Map([...before.watched, ...change.add].map((item) => [keyOf(item), item]));
  for (const item of change.delete) watched.delete(keyOf(item));
  save(of, { ...before, watched: [...watched.values()] });
}

/** The tools of the Hub's MCP server. A local Hub has none that one could call: this is what everybody's look like. */
export const mcpTools: McpSettings = {
  builtInTools: ["hub_repo_details", "hub_repo_search", "paper_search", "space_search"],
  spaceTools: [
    {
      _id: objectIdOf("space tool acme/playground"),
      name: "acme/playground",
      emoji: "🛝",
      subdomain: "acme-playground",
    },
    {
      _id: objectIdOf("space tool local-user/translator"),
      name: "local-user/translator",
      emoji: "🌍",
      subdomain: "local-user-translator",
    },
  ],
};

function save({ store, user }: SettingsOf, record: StoredSettings): void {
  store.settings.put({ owner: user, id, record });
}

function keyOf({ type, id: watchedId }: WatchedItem): string {
  return `${type} ${watchedId}`;
}
