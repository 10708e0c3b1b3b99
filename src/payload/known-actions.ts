import type { KnownScope } from "./schema.ts";

/** The actions that the Hub is known to send for each scope. The first action is the default. */
export const actionsByScope: Readonly<Record<KnownScope, readonly [string, ...string[]]>> = {
  repo: ["update", "create", "delete", "move"],
  "repo.content": ["update"],
  "repo.config": ["update"],
  discussion: ["create", "update", "delete"],
  "discussion.comment": ["create", "update"],
};
