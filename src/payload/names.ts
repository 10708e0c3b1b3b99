/*
 * The names in payloads, apart from the schemas, so that the Hub client and the console use them without the schemas.
 */

/** The known repository types. Payloads can contain newer types. */
export const repoTypes = ["model", "dataset", "space", "bucket", "kernel"] as const;
/** The known actions. Payloads can contain newer actions. */
export const actions = ["create", "delete", "update", "move"] as const;
/** The known states of a discussion. Payloads can contain newer states. */
export const discussionStatuses = ["draft", "open", "closed", "merged"] as const;
/** The known scopes. Payloads can contain newer, narrower scopes such as `repo.config.dois`. */
export const scopes = ["repo", "repo.content", "repo.config", "discussion", "discussion.comment"] as const;
/** A scope that is known to this release. */
export type KnownScope = (typeof scopes)[number];
/** A scope. Editors complete the known scopes, and other strings are valid for future scopes. */
export type Scope = KnownScope | (string & {});
/** A repository type. Editors complete the known types, and other strings are valid for future types. */
export type RepoType = (typeof repoTypes)[number] | (string & {});
/** The action of an event. Editors complete the known actions, and other strings are valid for future actions. */
export type Action = (typeof actions)[number] | (string & {});

/** Whether this release has a schema for the scope. */
export function isKnownScope(scope: string): scope is KnownScope {
  return (scopes as readonly string[]).includes(scope);
}

/** The actions that the Hub is known to send for each scope. The first action is the default. */
export const actionsByScope: Readonly<Record<KnownScope, readonly [string, ...string[]]>> = {
  repo: ["update", "create", "delete", "move"],
  "repo.content": ["update"],
  "repo.config": ["update"],
  discussion: ["create", "update", "delete"],
  "discussion.comment": ["create", "update"],
};

/** The name of a repository: owner and name, or only the name for the oldest repositories, such as `gpt2`. */
export const repositoryName = /^(?:([^/]+)\/)?([^/]+)$/;
