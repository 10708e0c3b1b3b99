/*
 * What the types of a payload promise, told a second time and without the schemas: "string", "number?" (may be absent),
 * "string|null", an object of these, or a list of one.
 */

type Promised = string | readonly [Promised] | { readonly [key: string]: Promised };

const common = {
  event: { action: "string", scope: "string" },
  repo: {
    type: "string",
    name: "string",
    id: "string",
    private: "boolean",
    url: { web: "string", api: "string?" },
    owner: { id: "string" },
    headSha: "string?",
    subdomain: "string?",
  },
  webhook: { id: "string", version: "number" },
} as const;

const discussion = {
  id: "string",
  num: "number",
  title: "string",
  status: "string",
  isPullRequest: "boolean",
  author: { id: "string" },
  url: { web: "string", api: "string" },
  pinned: "boolean?",
} as const;

const comment = {
  id: "string",
  author: { id: "string" },
  hidden: "boolean",
  url: { web: "string" },
  content: "string?",
} as const;

const updatedRefs = [{ ref: "string", oldSha: "string|null", newSha: "string|null" }] as const;
const updatedFiles = [{ path: "string", action: "string", xetHash: "string?", size: "number?" }] as const;

function promisedOf(scope: string, repoType: string): Promised {
  if (scope === "repo.config") return { ...common, updatedConfig: { private: "boolean?" } };
  if (scope === "discussion") return { ...common, discussion };
  if (scope === "discussion.comment") return { ...common, discussion, comment };
  if (scope !== "repo.content") return common;
  if (repoType === "bucket") return { ...common, updatedFiles };
  return ["model", "dataset", "space"].includes(repoType) ? { ...common, updatedRefs } : common;
}

/** Where a payload is not what its type says; none: everywhere it is. */
export function broken(payload: { event: { scope: string }; repo: { type: string } }): string | undefined {
  return mismatch(payload, promisedOf(payload.event.scope, payload.repo.type), "payload");
}

function mismatch(value: unknown, promised: Promised, path: string): string | undefined {
  if (typeof promised === "string") return isOf(value, promised) ? undefined : `${path} is no ${promised}`;
  if (isList(promised)) {
    if (!Array.isArray(value)) return `${path} is no list`;
    return firstOf(value.map((item, index) => [item, promised[0], `${path}.${index}`]));
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return `${path} is no object`;
  return firstOf(Object.entries(promised).map(([key, inner]) => [Reflect.get(value, key), inner, `${path}.${key}`]));
}

function firstOf(parts: readonly (readonly [unknown, Promised, string])[]): string | undefined {
  for (const part of parts) {
    const found = mismatch(...part);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isList(promised: Promised): promised is readonly [Promised] {
  return Array.isArray(promised);
}

function isOf(value: unknown, promised: string): boolean {
  if (promised.endsWith("?")) return value === undefined || isOf(value, promised.slice(0, -1));
  if (promised === "string|null") return value === null || typeof value === "string";
  return typeof value === promised;
}
