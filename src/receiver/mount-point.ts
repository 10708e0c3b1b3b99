import type { Context } from "hono";
import { optionError } from "../core/option-error.ts";

/** Options of a {@link MountPoint}. */
export interface MountPointOptions {
  /** The prefix of every path as the client sees it. */
  basePath?: string;
  /** Whether `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Forwarded-Prefix` come from a trusted proxy. Default `false`. */
  trustProxy?: boolean;
}

/**
 * The first segments of the built-in paths. With one of them as base path, `/webhooks/x` could be a path with the prefix
 * or one without it.
 */
const reservedSegments: readonly string[] = ["webhooks", "health", "ready", "metrics", "_deliveries", "_landing"];

/** Where the client reaches the server: the origin, and the prefix under which another app or a proxy mounts it. */
export class MountPoint {
  /** Without a slash at its end; empty at the root. */
  readonly basePath: string;
  readonly #hasBasePath: boolean;
  readonly #trustProxy: boolean;

  /** @throws `OPTION_INVALID` */
  constructor({ basePath, trustProxy = false }: MountPointOptions) {
    this.basePath = checkedBasePath(basePath);
    this.#hasBasePath = basePath !== undefined;
    this.#trustProxy = trustProxy;
  }

  /** A path of a request without the base path; unchanged where whatever is in front has removed that already. */
  strip(path: string): string {
    const { basePath } = this;
    if (basePath === "" || !path.startsWith(basePath)) return path;
    if (path.length === basePath.length) return "/";
    return path[basePath.length] === "/" ? path.slice(basePath.length) : path;
  }

  /**
   * The prefix of the server's paths as the client sees it, without a slash at its end. Empty at the root, and where a
   * proxy removes a prefix that is not configured.
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
 * The prefix of the running handler's path that comes from `parent.route(prefix, app)` or `app.basePath(prefix)`, without
 * a slash at its end; empty where there is none.
 */
export function routePrefix(context: Context): string {
  const { path, routeIndex, matchedRoutes } = context.req;
  // Not by the helpers of "hono/route": they cannot read a context that another copy of Hono made.
  const pattern = matchedRoutes[routeIndex]?.basePath.replace(/\/$/, "") ?? "";
  // A parameter of the prefix, such as `/:tenant`, stands for one segment.
  return pattern === "" ? "" : path.split("/", pattern.split("/").length).join("/");
}

/** @throws `OPTION_INVALID` */
function checkedBasePath(option: string | undefined): string {
  if (option === undefined) return "";
  const basePath = typeof option === "string" ? option.replace(/\/$/, "") : undefined;
  if (basePath === undefined || !isPathPrefix(basePath)) {
    throw optionError(
      `Option "basePath" is ${JSON.stringify(option)}. Give a path that starts with a slash, has no empty and no dot segments and needs no encoding, such as "/hub".`,
    );
  }
  const [, first = ""] = basePath.split("/");
  if (reservedSegments.includes(first)) {
    throw optionError(
      `Option "basePath" is "${option}", but "/${first}" is a path of the server itself. Leave out what follows the prefix: for deliveries to "/api/webhooks/<name>" the base path is "/api".`,
    );
  }
  return basePath;
}

/** Only characters that mean the same encoded and decoded: the prefix is compared with paths of both kinds. */
function isPathPrefix(text: string): boolean {
  return /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~!$&'()+,;=:@-]+)*$/.test(text);
}

function isHost(text: string): boolean {
  return /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i.test(text) && URL.canParse(`http://${text}`);
}

/** Each proxy adds its own value at the end: the first is the one that the client used. */
function firstValue(context: Context, header: string): string {
  return context.req.header(header)?.split(",")[0]?.trim() ?? "";
}
