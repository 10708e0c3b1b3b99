import { InvalidArgumentError } from "commander";
import type { Watched, WatchedType, WebhookDomain } from "../hub/contract/webhooks.ts";
import { suggest } from "./suggest.ts";

// Only the types of the contract are imported, so that a help text need not load it; the compiler keeps both lists whole.
const watchedTypes = {
  model: true,
  dataset: true,
  space: true,
  bucket: true,
  kernel: true,
  user: true,
  org: true,
} satisfies Record<WatchedType, true>;

const domains = { repo: true, discussion: true } satisfies Record<WebhookDomain, true>;

/** What can be watched, as help and errors list it. */
export const watchedTypeNames: readonly string[] = Object.keys(watchedTypes);

/** What a webhook is told of unless it is said. */
export const allDomains: readonly WebhookDomain[] = ["repo", "discussion"];

/**
 * Reads one value of `--watch` and adds it to those before.
 *
 * @throws `InvalidArgumentError` when it is not `type:name`, or its type cannot be watched.
 * @example
 * ```ts
 * collectWatched("dataset:me/data", undefined); // [{ type: "dataset", name: "me/data" }]
 * ```
 */
export function collectWatched(text: string, before: readonly Watched[] | undefined): readonly Watched[] {
  const colon = text.indexOf(":");
  const type = text.slice(0, Math.max(colon, 0));
  const name = text.slice(colon + 1);
  if (colon === -1) {
    throw new InvalidArgumentError(
      /^[0-9a-f]{24}$/.test(text)
        ? "It looks like the id of a webhook: put that before --watch, which takes all that follows."
        : 'Give it as type:name, such as "model:me/my-model" or "org:my-org".',
    );
  }
  if (!isWatchedType(type)) {
    throw new InvalidArgumentError(
      `"${type}" cannot be watched.${suggest(type, watchedTypeNames)} Types are ${watchedTypeNames.join(", ")}.`,
    );
  }
  if (name.includes(",")) throw new InvalidArgumentError("Separate several by a space, not by a comma.");
  if ((type === "user" || type === "org") && name.includes("/")) {
    throw new InvalidArgumentError(`A ${type} has no "/" in its name; a repository is watched by its own type.`);
  }
  if (name === "") throw new InvalidArgumentError(`The name is missing: give it as "${type}:name".`);
  return [...(before ?? []), { type, name }];
}

/**
 * Reads one value of `--domain` and adds it to those before; `discussions` is taken for `discussion`.
 *
 * @throws `InvalidArgumentError` for any other.
 */
export function collectDomain(text: string, before: readonly WebhookDomain[] | undefined): readonly WebhookDomain[] {
  const domain = text === "discussions" ? "discussion" : text;
  if (!isDomain(domain)) {
    const known = Object.keys(domains);
    if (text.includes(",")) throw new InvalidArgumentError("Separate several by a space, not by a comma.");
    if (/^[0-9a-f]{24}$/.test(text)) {
      throw new InvalidArgumentError(
        "It looks like the id of a webhook: put that before --domain, which takes all that follows.",
      );
    }
    throw new InvalidArgumentError(
      `There is no such domain.${suggest(domain, known)} Domains are ${known.join(", ")}.`,
    );
  }
  return [...new Set([...(before ?? []), domain])];
}

function isWatchedType(text: string): text is WatchedType {
  return Object.hasOwn(watchedTypes, text);
}

function isDomain(text: string): text is WebhookDomain {
  return Object.hasOwn(domains, text);
}
