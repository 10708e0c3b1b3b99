import type { Context } from "hono";

/** Adds the `Link` header of the next page to the response. `query` contains the parameters that differ from this page. */
export function linkNextPage(context: Context, query: Readonly<Record<string, string>>): void {
  // The link has the host of the request, because clients do not follow links to another host.
  const url = new URL(context.req.url);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  context.header("link", `<${url.href}>; rel="next"`);
}
