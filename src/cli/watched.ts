import { InvalidArgumentError } from "commander";
import { suggest } from "../core/option-error.ts";
import {
  type KnownWatched,
  parseDomain,
  parseWatch,
  type WebhookDomain,
  watchedTypes,
  webhookDomains,
} from "../payload/watch.ts";

/** What can be watched, as help and errors list it. */
export const watchedTypeNames: readonly string[] = watchedTypes;

/** What a webhook is told of unless it is said. */
export const allDomains: readonly WebhookDomain[] = webhookDomains;

/**
 * Reads one value of `--watch` and adds it to those before.
 *
 * @throws `InvalidArgumentError` when it is not `type:name`, or its type cannot be watched.
 * @example
 * ```ts
 * collectWatched("dataset:me/data", undefined); // [{ type: "dataset", name: "me/data" }]
 * ```
 */
export function collectWatched(text: string, before: readonly KnownWatched[] | undefined): readonly KnownWatched[] {
  const watched = parseWatch(text);
  if ("type" in watched) return [...(before ?? []), watched];
  if (looksLikeId(text)) {
    throw new InvalidArgumentError(
      "It looks like the id of a webhook: put that before --watch, which takes all that follows.",
    );
  }
  throw new InvalidArgumentError(watched.problem);
}

/**
 * Reads one value of `--domain` and adds it to those before; `discussions` is taken for `discussion`.
 *
 * @throws `InvalidArgumentError` for any other.
 */
export function collectDomain(text: string, before: readonly WebhookDomain[] | undefined): readonly WebhookDomain[] {
  const domain = parseDomain(text);
  if (domain !== undefined) return [...new Set([...(before ?? []), domain])];
  if (text.includes(",")) throw new InvalidArgumentError("Separate several by a space, not by a comma.");
  if (looksLikeId(text)) {
    throw new InvalidArgumentError(
      "It looks like the id of a webhook: put that before --domain, which takes all that follows.",
    );
  }
  throw new InvalidArgumentError(
    `There is no such domain.${suggest(text, webhookDomains)} Domains are ${webhookDomains.join(", ")}.`,
  );
}

function looksLikeId(text: string): boolean {
  return /^[0-9a-f]{24}$/.test(text);
}
