import type { Context, Handler } from "hono";
// Like "hono", but without the router that compiles all routes, which would add 1 kB to a compressed bundle.
import { Hono } from "hono/quick";
import { messageOf, readField, readOwnField } from "../core/describe.ts";
import { WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import { optionError } from "../core/options.ts";
import { wantsHtml } from "../core/urls.ts";
import { errorAnswer, errorBehind, internalError, isResponse, toResponse } from "../http/answer.ts";
import { nodeRequest } from "../http/body.ts";

/** A base path cannot start with these: requests match with and without it, so `/webhooks/x` would be ambiguous with `/webhooks`. */
const reservedSegments: readonly string[] = ["webhooks", "health", "ready", "metrics", "_console", "_landing"];

interface MountPointOptions {
  basePath?: string;
  trustProxy?: boolean;
}

/** The origin of the server in the URLs that clients use, and the path prefix under which an app or proxy mounts the server. */
export class MountPoint {
  /** The base path without a trailing slash, or an empty string at the root. */
  readonly basePath: string;
  readonly #options: MountPointOptions;

  constructor(options: MountPointOptions) {
    this.basePath = readBasePath(options.basePath);
    this.#options = options;
  }

  /** Removes the base path from the path of a request, unless a proxy or parent app has already removed it. */
  strip(path: string): string {
    const { basePath } = this;
    if (basePath === "" || !path.startsWith(basePath)) return path;
    if (path.length === basePath.length) return "/";
    return path[basePath.length] === "/" ? path.slice(basePath.length) : path;
  }

  /** Returns the prefix of the server's paths in the URLs that clients use, without a trailing slash. Empty at the root, and if unknown. */
  prefixOf(context: Context): string {
    if (this.#options.basePath !== undefined) return this.basePath;
    const forwarded = this.#options.trustProxy ? firstValue(context, "x-forwarded-prefix").replace(/\/$/, "") : "";
    return `${isPathPrefix(forwarded) ? forwarded : ""}${routePrefix(context)}`;
  }

  /** Returns the scheme, host, and port of the URL that the client uses, such as `https://bot.example.com`. */
  originOf(context: Context): string {
    const { protocol, host } = new URL(context.req.url);
    if (!this.#options.trustProxy) return `${protocol}//${host}`;
    const forwardedProtocol = firstValue(context, "x-forwarded-proto");
    const scheme = /^https?$/.test(forwardedProtocol) ? forwardedProtocol : protocol.slice(0, -1);
    const forwardedHost = firstValue(context, "x-forwarded-host");
    return `${scheme}://${isHost(forwardedHost) ? forwardedHost : host}`;
  }
}

/**
 * Returns the prefix under which a parent app mounts the route of this request, with `parent.route(prefix, app)` or
 * `app.basePath(prefix)`. The prefix has no trailing slash, and can be an empty string.
 */
export function routePrefix(context: Context): string {
  const { path, routeIndex, matchedRoutes } = context.req;
  // The helpers of "hono/route" cannot read the context of another copy of Hono, so this code reads the fields directly.
  const pattern = matchedRoutes[routeIndex]?.basePath.replace(/\/$/, "") ?? "";
  // The pattern may contain a parameter such as `/:tenant`, so the prefix is taken from the request path.
  return pattern === "" ? "" : path.split("/", pattern.split("/").length).join("/");
}

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

/** Returns the first of several comma-separated values: each proxy appends one, so the first describes the client's request. */
function firstValue(context: Context, header: string): string {
  return context.req.header(header)?.split(",")[0]?.trim() ?? "";
}

type LoadErrorPage = () => Promise<Pick<typeof import("../console/pages/error-page.ts"), "renderErrorPage">>;

/** Replaces the JSON of an error response with an HTML page if a browser sent the request. `home`: the path to which the page links. */
export async function showErrorPage(
  response: Response,
  request: { method: string; accept: string | null | undefined; home?: string | undefined },
  load: LoadErrorPage,
): Promise<Response> {
  const error = errorBehind(response);
  if (error === undefined || !wantsHtml(request)) return response;
  const { renderErrorPage } = await load();
  const { status } = response;
  const page = renderErrorPage({ status, code: error.code, message: error.message, home: request.home });
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(page.headers)) headers.set(name, value);
  return new Response(page.html, { status, headers });
}

/**
 * A Hono app with any environment, from any copy of Hono. The type has only a few fields, because TypeScript treats the
 * classes of two copies of Hono as different types.
 */
export interface HonoApp {
  /** The routes and the middleware, in the order of their registration. */
  readonly routes: readonly { readonly path: string; readonly method: string }[];
  readonly fetch: (request: Request) => Response | Promise<Response>;
}

/** A dot segment in the path of a request target. */
const dotSegment = /^[^?#]*\/(?:\.|%2e){1,2}(?:[/?#]|$)/i;

const takenApps = new WeakSet<object>();

interface ServerAppOptions extends MountPointOptions {
  app?: HonoApp;
  log: Logger;
  refusalLog: Logger;
  loadErrorPage: LoadErrorPage;
}

/** The Hono app of a server: a new app, or an app to which the user has added middleware. */
export class ServerApp {
  readonly hono: Hono;
  readonly mountPoint: MountPoint;
  readonly #options: ServerAppOptions;
  /** Whether the app uses Hono's default router and default function to read paths. */
  readonly #hasDefaultMatching: boolean;
  readonly #builtIn = new Set<unknown>();
  /** The routes up to the last built-in one, for {@link isDirect}: the app's own router rejects new routes after its first match. */
  readonly #router = new Hono().router;

  /** @throws `OPTION_INVALID` when `app` is not a Hono app or belongs to another server, or when `basePath` is invalid. */
  constructor(options: ServerAppOptions) {
    const { app } = options;
    this.#options = options;
    this.mountPoint = new MountPoint(options);
    this.hono = app === undefined ? new Hono() : readApp(app);
    const { getPath, router } = this.hono;
    // The `strict` option selects one of two functions that read the path of a request.
    const defaults = [new Hono().getPath, new Hono({ strict: false }).getPath];
    this.#hasDefaultMatching = defaults.includes(getPath) && router.constructor === this.#router.constructor;
  }

  /**
   * Adds the built-in routes after those of the app. Then, `use()` throws, because later middleware would not run for the built-in routes.
   *
   * @throws `OPTION_INVALID` when the app has already answered a request, or has routes that the base path hides.
   */
  add(addRoutes: (app: Hono) => void): void {
    const { mountPoint } = this;
    takenApps.add(this.hono);
    const builtIn = new Hono();
    addRoutes(builtIn);
    try {
      for (const { method, path, handler } of builtIn.routes) {
        const added: Handler = async (context, next) => {
          const answer: unknown = await (this.#refuse(context.env) ?? handler(context, next));
          if (!isResponse(answer)) return answer;
          const response = await this.#showToBrowsers(answer, context);
          // Hono adds the headers that middleware has set on the context only to responses that were created with the context.
          return context.req.routeIndex > 0 ? context.newResponse(response.body, response) : response;
        };
        this.#builtIn.add(added);
        this.hono.on(method, path, added);
      }
    } catch (cause) {
      throw optionError(
        `Hono refused to add the built-in routes (${messageOf(cause)}). Create the server before the app answers its first request.`,
        { cause },
      );
    }
    const hidden = this.hono.routes.find(({ path }) => mountPoint.strip(path) !== path);
    if (hidden) {
      const visible = hidden.path.slice(mountPoint.basePath.length) || "/";
      throw optionError(
        `The app has a route or middleware at "${hidden.path}", which never matches with the option basePath: "${mountPoint.basePath}". Paths in the app do not contain the base path. Register the route as "${visible}", or omit the option.`,
      );
    }
    for (const route of this.hono.routes) this.#router.add(route.method, route.path, [route.handler, route]);
    if (mountPoint.basePath !== "") {
      const { getPath } = this.hono;
      const stripped: typeof getPath = (...request) => mountPoint.strip(getPath(...request));
      Object.assign(this.hono, { getPath: stripped });
    }
    // Keeps the `notFound` handler of a user's app: Hono cannot report whether the app has one.
    if (this.#options.app === undefined) {
      this.hono.notFound((context) => this.#showToBrowsers(toResponse(errorAnswer(nothingFound())), context));
    }
    // Hono's default error handler logs to the console and answers with text.
    const hasDefaultHandler = readOwnField(this.hono, "errorHandler") === readOwnField(new Hono(), "errorHandler");
    if (hasDefaultHandler) this.hono.onError((cause, context) => this.#answerFailure(cause, context));
    this.hono.use = () => {
      throw new WebhookError(
        "server.app.use() was called after the server was created, so this middleware would not run for deliveries or other built-in requests. Add middleware before you create the server: `const app = new Hono(); app.use(…); const server = new WebhooksServer({ app });`.",
        { code: "MIDDLEWARE_TOO_LATE" },
      );
    };
  }

  /** Whether a built-in route is the first that matches a POST to `path`, so that Hono can be skipped. Later routes change nothing. */
  isDirect(path: string): boolean {
    if (!this.#hasDefaultMatching) return false;
    const [first] = this.#router.match("POST", path)[0];
    return this.#builtIn.has(first?.[0][0]);
  }

  fetch(...[request, environment, context]: Parameters<Hono["fetch"]>): Response | Promise<Response> {
    const refused = this.#refuse(environment);
    if (!refused) return this.hono.fetch(request, environment, context);
    const { method, headers } = request;
    return showErrorPage(refused, { method, accept: headers.get("accept") }, this.#options.loadErrorPage);
  }

  /**
   * Answers 404 to a path that was sent with dot segments. `Request` resolves them, also encoded ones, so `/webhooks/%2e%2e/_console`
   * would pass a proxy that only forwards `/webhooks/`, and then match the console.
   */
  #refuse(environment: unknown): Response | undefined {
    if (!dotSegment.test(nodeRequest(environment)?.url ?? "")) return undefined;
    const error = nothingFound();
    this.#options.refusalLog.warn(
      { code: error.code, status: error.status, reason: "Dot segments in the path" },
      "request refused",
    );
    return toResponse(errorAnswer(error));
  }

  #showToBrowsers(response: Response, context: Context): Promise<Response> {
    const { method, path } = context.req;
    const home = `${this.mountPoint.prefixOf(context)}/`;
    const accept = context.req.header("accept");
    const shown = { method, accept, home: home === path ? undefined : home };
    return showErrorPage(response, shown, this.#options.loadErrorPage);
  }

  #answerFailure(cause: unknown, context: Context): Response {
    const thrown = responseOf(cause);
    if (thrown) return context.newResponse(thrown.body, thrown);
    this.#options.log.error({ err: cause }, "A page or a custom route failed.");
    return toResponse(errorAnswer(internalError(cause)));
  }
}

/** Returns the response of an `HTTPException`, which Hono's middleware throws to end a request. */
function responseOf(cause: unknown): Response | undefined {
  const getResponse = readField(cause, "getResponse");
  const response: unknown = typeof getResponse === "function" ? Reflect.apply(getResponse, cause, []) : undefined;
  return isResponse(response) ? response : undefined;
}

function readApp(given: HonoApp): Hono {
  if (!isHono(given)) {
    throw optionError('Option "app" is not a Hono app. Pass the result of `new Hono()`.');
  }
  if (takenApps.has(given)) {
    throw optionError(
      'Option "app" already belongs to another WebhooksServer. Create a Hono app for each server, and mount the servers in a common parent, as in `parent.route("/a", first.app)`.',
    );
  }
  return given;
}

/** Whether a value is a Hono app. Does not use `instanceof`, because the app may come from another copy of Hono. */
function isHono(value: unknown): value is Hono {
  const methods = ["fetch", "use", "all", "get", "post", "route", "onError", "notFound", "getPath"] as const;
  return (
    typeof value === "object" &&
    value !== null &&
    Array.isArray(Reflect.get(value, "routes")) &&
    methods.every((name) => typeof Reflect.get(value, name) === "function")
  );
}

function nothingFound(): WebhookError {
  return new WebhookError("No page or route matches this path. Check the URL.", { code: "NOT_FOUND", status: 404 });
}
