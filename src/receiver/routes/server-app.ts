import { type Context, type Handler, Hono } from "hono";
import { messageOf } from "../../core/describe-error.ts";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import { optionError } from "../../core/option-error.ts";
import { readOwnField } from "../../core/read-field.ts";
import { errorAnswer, isResponse, toResponse } from "../../http/answer.ts";
import { internalError } from "../pipeline/outcome-answer.ts";
import { MountPoint, type MountPointOptions } from "./mount-point.ts";
import { showErrorPage } from "./show-error-page.ts";

/**
 * A Hono app with any environment, from any copy of Hono. The type has only a few fields, because TypeScript treats the
 * classes of two copies of Hono as different types.
 */
export interface HonoApp {
  /** The routes and the middleware, in the order of their registration. */
  readonly routes: readonly { readonly path: string; readonly method: string }[];
  readonly fetch: (request: Request) => Response | Promise<Response>;
}

/** The apps that already belong to a server. */
const takenApps = new WeakSet<object>();

export interface ServerAppOptions extends MountPointOptions {
  /** The user's app. Default: a new app. */
  app?: HonoApp;
  log: Logger;
}

/** The Hono app of a server: a new app, or an app to which the user has added middleware. */
export class ServerApp {
  readonly hono: Hono;
  readonly mountPoint: MountPoint;
  readonly #options: ServerAppOptions;
  /** Whether the app uses Hono's default router and default function to read paths. */
  readonly #hasDefaultMatching: boolean;
  /** The handlers of the built-in routes. */
  readonly #builtIn = new Set<unknown>();
  /**
   * A router with all routes up to the last built-in route, for {@link isDirect}. The app's own router cannot be used,
   * because it rejects new routes after its first match.
   */
  readonly #router = new Hono().router;

  /** @throws `OPTION_INVALID` when `app` is not a Hono app or belongs to another server, or when `basePath` is invalid. */
  constructor(options: ServerAppOptions) {
    const { app } = options;
    this.#options = options;
    this.mountPoint = new MountPoint(options);
    this.hono = app === undefined ? new Hono() : readApp(app);
    const { getPath, router } = this.hono;
    this.#hasDefaultMatching = defaultGetPaths().includes(getPath) && router.constructor === this.#router.constructor;
  }

  /**
   * Adds the built-in routes after the routes and middleware of the app. Afterward, `use()` throws, because later middleware
   * would not run for the built-in routes.
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
        const added = withPreparedHeaders(handler, mountPoint);
        this.#builtIn.add(added);
        this.hono.on(method, path, added);
      }
    } catch (cause) {
      throw routesRefused(cause);
    }
    const hidden = this.hono.routes.find(({ path }) => mountPoint.strip(path) !== path);
    if (hidden) throw routeHidden(hidden.path, mountPoint.basePath);
    for (const route of this.hono.routes) this.#router.add(route.method, route.path, [route.handler, route]);
    if (mountPoint.basePath !== "") {
      const { getPath } = this.hono;
      const stripped: typeof getPath = (...request) => mountPoint.strip(getPath(...request));
      Object.assign(this.hono, { getPath: stripped });
    }
    // Keeps the `notFound` handler of a user's app: Hono cannot report whether the app has one.
    if (this.#options.app === undefined) {
      this.hono.notFound((context) => showToBrowsers(toResponse(errorAnswer(nothingFound())), context, mountPoint));
    }
    if (hasDefaultErrorHandler(this.hono)) this.hono.onError((cause, context) => this.#answerFailure(cause, context));
    this.hono.use = () => {
      throw middlewareTooLate();
    };
  }

  /**
   * Whether a built-in route is the first route in the app that matches a POST to `path`, so that Hono can be skipped. The
   * result never changes, because later routes are added after the built-in routes.
   */
  isDirect(path: string): boolean {
    if (!this.#hasDefaultMatching) return false;
    const [first] = this.#router.match("POST", path)[0];
    return this.#builtIn.has(first?.[0][0]);
  }

  #answerFailure(cause: unknown, context: Context): Response {
    const thrown = responseOf(cause);
    if (thrown) return context.newResponse(thrown.body, thrown);
    this.#options.log.error({ err: cause }, "A page or a custom route failed.");
    return toResponse(errorAnswer(internalError(cause)));
  }
}

/**
 * Adds the headers that middleware has set on the context to the responses of `handler`. Hono only adds these headers to
 * responses that were created with the context, and the built-in routes create responses in another way.
 */
function withPreparedHeaders(handler: Handler, mountPoint: MountPoint): Handler {
  return async (context, next) => {
    const answer: unknown = await handler(context, next);
    const response = isResponse(answer) ? await showToBrowsers(answer, context, mountPoint) : answer;
    return isResponse(response) && context.req.routeIndex > 0 ? context.newResponse(response.body, response) : response;
  };
}

function showToBrowsers(response: Response, context: Context, mountPoint: MountPoint): Promise<Response> {
  const { method, path } = context.req;
  const home = `${mountPoint.prefixOf(context)}/`;
  const accept = context.req.header("accept");
  return showErrorPage(response, { method, accept, home: home === path ? undefined : home });
}

/** Returns the response of an `HTTPException`, which Hono's middleware throws to end a request. */
function responseOf(cause: unknown): Response | undefined {
  if (typeof cause !== "object" || cause === null || !("getResponse" in cause)) return undefined;
  const response: unknown = typeof cause.getResponse === "function" ? cause.getResponse() : undefined;
  return isResponse(response) ? response : undefined;
}

/** Whether the app uses Hono's default error handler, which logs to the console and answers with text. */
function hasDefaultErrorHandler(app: Hono): boolean {
  return readOwnField(app, "errorHandler") === readOwnField(new Hono(), "errorHandler");
}

/** Returns Hono's two default functions that read the path of a request, with and without the `strict` option. */
function defaultGetPaths(): readonly unknown[] {
  return [new Hono().getPath, new Hono({ strict: false }).getPath];
}

/** @throws `OPTION_INVALID` */
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

function routesRefused(cause: unknown): WebhookError {
  return optionError(
    `Hono refused to add the built-in routes (${messageOf(cause)}). Create the server before the app answers its first request.`,
    { cause },
  );
}

function routeHidden(path: string, basePath: string): WebhookError {
  return optionError(
    `The app has a route or middleware at "${path}", which never matches with the option basePath: "${basePath}". Paths in the app do not contain the base path. Register the route as "${path.slice(basePath.length) || "/"}", or omit the option.`,
  );
}

function middlewareTooLate(): WebhookError {
  return new WebhookError(
    "server.app.use() was called after the server was created, so this middleware would not run for deliveries or other built-in requests. Add middleware before you create the server: `const app = new Hono(); app.use(…); const server = new WebhooksServer({ app });`.",
    { code: "MIDDLEWARE_TOO_LATE" },
  );
}
