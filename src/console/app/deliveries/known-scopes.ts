import type { KnownScope } from "../../../payload/names.ts";

/** The scopes of the Hub. The list of the schema would bring zod into the bundle. */
const known: Readonly<Record<KnownScope, true>> = {
  repo: true,
  "repo.content": true,
  "repo.config": true,
  discussion: true,
  "discussion.comment": true,
};

export const knownScopes = Object.keys(known).filter((scope): scope is KnownScope => Object.hasOwn(known, scope));
