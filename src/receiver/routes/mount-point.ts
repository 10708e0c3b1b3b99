import type { Context } from "hono";
import { optionError } from "../../core/option-error.ts";

export interface MountPointOptions {
  /** The prefix of every path in the URLs that clients use. */
  basePath?: string;
  /** Whether to trust `X-Forwarded-Proto`, `X-Forwarded-Host`, and `X-Forwarded-Prefix`. Default `false`. */
  trustProxy?: boolean;
}

/**
 * The first segments of the built-in paths, with which a base path cannot start. Requests match with and without the base
 * path, so `/webhooks/x` would be ambiguous with the base path `/webhooks`.
 */
const reservedSegments: readonly string[] = ["webhooks", "health", "ready", "metrics", "_console", "_landing"];

/**
 * The origin of the server in the URLs that clients use, and the path prefix under which an app or proxy mounts the server.
 */
export class MountPoint {
  /** The base path without a trailing slash, or an empty string at the root. */
  readonly basePath: string;
  readonly #hasBasePath: boolean;
  readonly #trustProxy: boolean;

  /** @throws `OPTION_INVALID` */
  constructor({ basePath, trustProxy = false }: MountPointOptions) {
    this.basePath = readBasePath(basePath);
    this.#hasBasePath = basePath !== undefined;
    this.#trustProxy = trustProxy;
  }

  /** Removes the base path from the path of a request, unless a proxy or parent app has already removed it. */
  strip(path: string): string {
    const { basePath } = this;
    if (basePath === "" || !path.startsWith(basePath)) return path;
    if (path.length === basePath.length) return "/";
    return path[basePath.length] === "/" ? path.slice(basePath.length) : path;
  }

  /**
   * Returns the prefix of the server's paths in the URLs that clients use, without a trailing slash. Returns an empty string
   * at the root, and when a proxy removes a prefix that neither `basePath` nor `X-Forwarded-Prefix` contains.
   */
  prefixOf(context: Context): string {
    if (this.#hasBasePath) return this.basePath;
    return `${this.#forwardedPrefix(context)}${routePrefix(context)}`;
  }

  /** Returns the scheme, host, and port of the URL that the client uses, such as `https://bot.example.com`. */
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
 * Returns the prefix under which a parent app mounts the route of this request, with `parent.route(prefix, app)` or
 * `app.basePath(prefix)`. The prefix has no trailing slash, and is an empty string if there is none.
 */
export function routePrefix(context: Context): string {
  const { path, routeIndex, matchedRoutes } = context.req;
  // The helpers of "hono/route" cannot read the context of another copy of Hono, so this code reads the fields directly.
  const pattern = matchedRoutes[routeIndex]?.basePath.replace(/\/$/, "") ?? "";
  // The pattern may contain a parameter such as `/:tenant`, so the prefix is taken from the request path.
  return pattern === "" ? "" : path.split("/", pattern.split("/").length).join("/");
}

/** @throws `OPTION_INVALID` */
function readBasePath(option: string | undefined): string {
  if (option === undefined) return "";
  const basePath = typeof option === "string" ? option.replace(/\/$/, "") : undefined;
  if (basePath === undefined || !isPathPrefix(basePath)) {
    throw optionError(
      `Option "basePath" is ${JSON.stringify(option)}. Use a path that starts with a slash, without empty segments, dot segments, or characters that URLs encode, such as "/hub".`,
    );
  }
  const [, first = ""] = basePath.split("/");
  if (reservedSegments.includes(first)) {
    throw optionError(
      `Option "basePath" is "${option}", but "/${first}" is a built-in path of the server. Use only the part of the path before "/${first}": for deliveries to "/api/webhooks/<name>", the base path is "/api".`,
    );
  }
  return basePath;
}

/** Allows only characters that URLs do not encode, because the prefix is compared with encoded and decoded paths. */
function isPathPrefix(text: string): boolean {
  return /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~!$&'()+,;=:@-]+)*$/.test(text);
}

function isHost(text: string): boolean {
  return /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i.test(text) && URL.canParse(`http://${text}`);
}

/**
 * Returns the first of several comma-separated values. Each proxy appends a value, so the first value describes the
 * client's request.
 */
function firstValue(context: Context, header: string): string {
  return context.req.header(header)?.split(",")[0]?.trim() ?? "";
}
