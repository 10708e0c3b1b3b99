import { optionError, suggest } from "../core/option-error.ts";
import { coversScope } from "../payload/scope.ts";
import { type KnownWatched, parseDomain, parseWatch, type WebhookDomain, webhookDomains } from "../payload/watch.ts";

/**
 * Reads the option `watch` of an endpoint: what its webhook is to watch, each thing once.
 *
 * @throws `OPTION_INVALID`, which says what to write.
 */
export function readWatch(option: string | readonly string[] | undefined): readonly KnownWatched[] {
  if (option === undefined) return [];
  const watch = textsOf(option).map((text) => {
    const watched = parseWatch(text);
    if ("type" in watched) return watched;
    throw optionError(`Option "watch" is ${JSON.stringify(text)}. ${watched.problem}`);
  });
  if (watch.length === 0) throw optionError('Option "watch" is empty: give something to watch, or leave it out.');
  return watch.filter(
    ({ type, name }, index) => watch.findIndex((other) => other.type === type && other.name === name) === index,
  );
}

/**
 * Reads the option `domains` of an endpoint; where it is not given, those that its filter leaves.
 *
 * @throws `OPTION_INVALID`, which says what to write, also when the filter would refuse all that comes.
 */
export function readDomains(
  option: string | readonly string[] | undefined,
  { scopes }: { scopes: readonly string[] },
): readonly WebhookDomain[] {
  const wanted = domainsOf(scopes);
  if (option === undefined) return wanted;
  const domains = textsOf(option).map((text) => {
    const domain = parseDomain(text);
    if (domain !== undefined) return domain;
    throw optionError(
      `Option "domains" is ${JSON.stringify(text)}.${suggest(text, webhookDomains)} Domains are ${webhookDomains.join(", ")}.`,
    );
  });
  if (domains.length === 0) throw optionError('Option "domains" is empty: give one, or leave it out for both.');
  if (!domains.some((domain) => wanted.includes(domain))) {
    throw optionError(
      `Option "domains" is ${domains.join(", ")}, and option "scope" takes nothing of that: leave "domains" out, or give ${wanted.join(", ")}.`,
    );
  }
  return webhookDomains.filter((domain) => domains.includes(domain));
}

/** The domains in which the deliveries of these scopes happen; a scope that nobody knows may be of either. */
function domainsOf(scopes: readonly string[]): readonly WebhookDomain[] {
  const found = scopes.map((scope) => webhookDomains.find((domain) => coversScope(domain, scope)));
  return found.length === 0 || found.includes(undefined)
    ? webhookDomains
    : webhookDomains.filter((domain) => found.includes(domain));
}

function textsOf(option: string | readonly string[]): readonly string[] {
  // Whoever writes JavaScript may give anything.
  const given: unknown = option;
  return (Array.isArray(given) ? given : [given]).map(String);
}
