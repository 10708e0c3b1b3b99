import type { StoredRepository } from "../../../src/local-hub/store/repository-store.ts";

/** Returns the public dataset `me/data` without content, with changes. */
export function storedRepository(changes: Partial<StoredRepository> = {}): StoredRepository {
  return {
    ...{ type: "dataset", name: "me/data", id: "a".repeat(24), private: false, discussions: 0 },
    ...{ createdAt: 0, lastModified: 0, gated: false, discussionsDisabled: false },
    ...changes,
  };
}
