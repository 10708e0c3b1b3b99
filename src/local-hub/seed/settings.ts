import { localUser } from "../accounts.ts";
import type { KeyedRecord } from "../store/record-store.ts";
import type { StoredSettings } from "../store/records.ts";
import { seededRepositoryId } from "./repositories.ts";

/** The settings with which a local Hub starts: the developer watches a dataset, so that its discussions are told. */
export function seedSettings(): KeyedRecord<StoredSettings>[] {
  return [
    {
      owner: localUser,
      id: "settings",
      record: {
        notifications: { announcements: true, web_discussions_watched: true, launch_spaces: false },
        watched: [{ type: "repo", id: seededRepositoryId({ type: "dataset", name: "acme/reviews" }) }],
      },
    },
  ];
}
