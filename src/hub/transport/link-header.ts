/** Matches a link and its parameters. Quoted values can contain any character. */
const links = /<([^<>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^\s;,"]+))*)/g;
const parameter = /;\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/g;

/** Returns the query of the next page from a `Link` header (RFC 8288), or `undefined` if there is no next page. */
export function nextQuery(link: string | null): URLSearchParams | undefined {
  for (const [, target = "", parameters = ""] of (link ?? "").matchAll(links)) {
    const [, , quoted, plain = ""] =
      [...parameters.matchAll(parameter)].find(([, name]) => /^rel$/i.test(name ?? "")) ?? [];
    if (!(quoted ?? plain).toLowerCase().split(/\s+/).includes("next")) continue;
    // Only the query is used, so that the token is never sent to another host.
    return URL.parse(target, "http://hub.invalid")?.searchParams;
  }
  return undefined;
}
