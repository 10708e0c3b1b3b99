import type { Context } from "hono";
import { optionError } from "../core/option-error.ts";

export interface MountPointOptions {
  /** The prefix of every path as the client sees it. */
  basePath?: string;
  /** Whether `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Forwarded-Prefix` come from a trusted proxy. Default `false`. */
  trustProxy?: boolean;
}

/**
 * The first segments of the built-in paths. They cannot be a base path: requests match with and without it, and with the
 * base path `/webhooks`, the path `/webhooks/x` would be ambiguous.
 */
const reservedSegments: readonly string[] = ["webhooks", "health", "ready", "metrics", "_deliveries", "_landing"];

/** The address of the server as its clients see it: the origin, and the prefix under which an app or a proxy mounts it. */
export class MountPoint {
  /** Without a trailing slash; empty at the root. */
  readonly basePath: string;
  readonly #hasBasePath: boolean;
  readonly #trustProxy: boolean;

  /** @throws `OPTION_INVALID` */
  constructor({ basePath, trustProxy = false }: MountPointOptions) {
    this.basePath = checkedBasePath(basePath);
    this.#hasBasePath = basePath !== undefined;
    this.#trustProxy = trustProxy;
  }

  /** Removes the base path from the path of a request, unless the proxy or the parent app has removed it. */
  strip(path: string): string {
    const { basePath } = this;
    if (basePath === "" || !path.startsWith(basePath)) return path;
    if (path.length === basePath.length) return "/";
    return path[basePath.length] === "/" ? path.slice(basePath.length) : path;
  }

  /**
   * The prefix of the server's paths as the client sees it, without a trailing slash. Empty at the root, and when a proxy
   * removes a prefix that neither `basePath` nor `X-Forwarded-Prefix` contains.
   */
  prefixOf(context: Context): string {
    if (this.#hasBasePath) return this.basePath;
    return `${this.#forwardedPrefix(context)}${routePrefix(context)}`;
  }

  /** Scheme, host and port as the client sees them, such as `https://bot.example.com`. */
  originOf(context: Context): string {
    const { protocol, host } = new URL(context.req.url);
    if (!this.#trustProxy) return `${protocol}//${host}`;
    const forwardedProtocol = firstValue(context, "x-forwarded-proto");
    const scheme = /^https?$/.test(forwardedProtocol) ? forwardedProtocol : protocol.slice(0, -1);
    const forwardedHost = firstValue(context, "x-forwarded-host");
    return `${scheme}://${isHost(forwardedHost) ? forwardedHost : host}`;
  }

  #forwardedPrefix(context: Context): string {
    const prefix = this.#trustProxy ? firstValue(context, "x-forwarded-prefix").replace(/\/$/, "") : "";
    return isPathPrefix(prefix) ? prefix : "";
  }
}

/**
 * The prefix under which a parent app mounts the route that handles this request, by `parent.route(prefix, app)` or
 * `app.basePath(prefix)`. Without a trailing slash; empty if there is none.
 */
export function routePrefix(context: Context): string {
  const { path, routeIndex, matchedRoutes } = context.req;
  // The helpers of "hono/route" cannot read a context of another copy of Hono.
  const pattern = matchedRoutes[routeIndex]?.basePath.replace(/\/$/, "") ?? "";
  // The prefix may contain a parameter such as `/:tenant`, so its segments are taken from the path.
  return pattern === "" ? "" : path.split("/", pattern.split("/").length).join("/");
}

/** @throws `OPTION_INVALID` */
function checkedBasePath(option: string | undefined): string {
  if (option === undefined) return "";
  const basePath = typeof option === "string" ? option.replace(/\/$/, "") : undefined;
  if (basePath === undefined || !isPathPrefix(basePath)) {
    throw optionError(
      `Option "basePath" is ${JSON.stringify(option)}. Use a path that starts with a slash, without empty segments, dot segments and characters that URLs encode, such as "/hub".`,
    );
  }
  const [, first = ""] = basePath.split("/");
  if (reservedSegments.includes(first)) {
    throw optionError(
      `Option "basePath" is "${option}", but "/${first}" is a path of the server itself. Use only the part before it: for deliveries to "/api/webhooks/<name>", the base path is "/api".`,
    );
  }
  return basePath;
}

/** Allows only characters that URLs do not encode: the prefix is compared with encoded and decoded paths. */
function isPathPrefix(text: string): boolean {
  return /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~!$&'()+,;=:@-]+)*$/.test(text);
}

function isHost(text: string): boolean {
  return /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i.test(text) && URL.canParse(`http://${text}`);
}

/** The first of several values: each proxy appends its own, so the first is that of the client. */
function firstValue(context: Context, header: string): string {
  return context.req.header(header)?.split(",")[0]?.trim() ?? "";
}
