import { optionError } from "../../core/option-error.ts";
import { suggest } from "../../core/suggest.ts";
import { coversScope } from "../../payload/scope.ts";
import { parseDomain, parseWatch, type WatchedItem, type WebhookDomain, webhookDomains } from "../../payload/watch.ts";

/**
 * Reads an endpoint's `watch` option, and removes duplicates.
 *
 * @throws `OPTION_INVALID`
 */
export function readWatchOption(option: string | readonly string[] | undefined): readonly WatchedItem[] {
  if (option === undefined) return [];
  const watch = textsOf(option).map((text) => {
    const watched = parseWatch(text);
    if ("type" in watched) return watched;
    throw optionError(`Option "watch" is ${JSON.stringify(text)}. ${watched.problem}`);
  });
  if (watch.length === 0)
    throw optionError('Option "watch" is empty. Add an item such as "dataset:me/data", or remove the option.');
  return watch.filter(
    ({ type, name }, index) => watch.findIndex((other) => other.type === type && other.name === name) === index,
  );
}

/**
 * Reads an endpoint's `domains` option. Default: the domains of the endpoint's scopes.
 *
 * @throws `OPTION_INVALID` when a domain is unknown, or when the filter would ignore every delivery.
 */
export function readDomainsOption(
  option: string | readonly string[] | undefined,
  { scopes }: { scopes: readonly string[] },
): readonly WebhookDomain[] {
  const wanted = domainsOf(scopes);
  if (option === undefined) return wanted;
  const domains = textsOf(option).map((text) => {
    const domain = parseDomain(text);
    if (domain !== undefined) return domain;
    throw optionError(
      `Option "domains" is ${JSON.stringify(text)}.${suggest(text, webhookDomains)} Valid domains: ${webhookDomains.join(", ")}.`,
    );
  });
  if (domains.length === 0)
    throw optionError('Option "domains" is empty. Add a domain, or remove the option to subscribe to both domains.');
  if (!domains.some((domain) => wanted.includes(domain))) {
    throw optionError(
      `Option "domains" is ${domains.join(", ")}, which option "scope" does not cover. Remove "domains", or set it to ${wanted.join(", ")}.`,
    );
  }
  return webhookDomains.filter((domain) => domains.includes(domain));
}

/** Returns the domains of these scopes. An unknown scope may belong to either domain, so both are returned. */
function domainsOf(scopes: readonly string[]): readonly WebhookDomain[] {
  const found = scopes.map((scope) => webhookDomains.find((domain) => coversScope(domain, scope)));
  return found.length === 0 || found.includes(undefined)
    ? webhookDomains
    : webhookDomains.filter((domain) => found.includes(domain));
}

function textsOf(option: string | readonly string[]): readonly string[] {
  // JavaScript users may pass any value.
  const given: unknown = option;
  return (Array.isArray(given) ? given : [given]).map(String);
}
