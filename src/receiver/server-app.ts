import { type Context, type Handler, Hono } from "hono";
import { messageOf } from "../core/describe-error.ts";
import { WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import { optionError } from "../core/option-error.ts";
import { readOwnField } from "../core/read-field.ts";
import { errorAnswer, isResponse, toResponse } from "../http-server/answer.ts";
import { MountPoint, type MountPointOptions } from "./mount-point.ts";
import { internalError } from "./outcome-answer.ts";
import { showErrorPage } from "./show-error-page.ts";

/**
 * The result of `new Hono()`, with any environment and of any copy of Hono. The type has only a few of its fields, because
 * TypeScript treats the classes of two copies of Hono as different types.
 */
export interface HonoApp {
  /** The routes and the middleware, in the order of their registration. */
  readonly routes: readonly { readonly path: string; readonly method: string }[];
  readonly fetch: (request: Request) => Response | Promise<Response>;
}

/** The apps that belong to a server. */
const takenApps = new WeakSet<object>();

export interface ServerAppOptions extends MountPointOptions {
  /** The user's app. Default: one of the server's own. */
  app?: HonoApp;
  log: () => Logger;
}

/** The Hono app of a server: one of its own, or one that the user has registered middleware on. */
export class ServerApp {
  readonly hono: Hono;
  readonly mountPoint: MountPoint;
  readonly #options: ServerAppOptions;
  /** Whether the app has Hono's default router and reads paths as they are in the URL. */
  readonly #hasDefaultMatching: boolean;
  /** The handlers of the built-in routes. */
  readonly #builtIn = new Set<unknown>();
  /**
   * A copy of the routes up to the last built-in one, for {@link isDirect}. The app's own router cannot be used: it accepts
   * no further routes after its first match.
   */
  readonly #router = new Hono().router;

  /** @throws `OPTION_INVALID` when `app` is not a Hono app or belongs to another server, or `basePath` is not a prefix. */
  constructor(options: ServerAppOptions) {
    const { app } = options;
    this.#options = options;
    this.mountPoint = new MountPoint(options);
    this.hono = app === undefined ? new Hono() : checkedApp(app);
    const { getPath, router } = this.hono;
    this.#hasDefaultMatching = defaultGetPaths().includes(getPath) && router.constructor === this.#router.constructor;
  }

  /**
   * Adds the built-in routes after the routes and middleware of the app. From then on `use()` throws, because further
   * middleware would never run for the built-in routes.
   *
   * @throws `OPTION_INVALID` when the app has already answered a request, or has routes that its base path hides.
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
    // A user's app may have its own `notFound`, which Hono does not reveal.
    if (this.#options.app === undefined) {
      this.hono.notFound((context) => showToBrowsers(toResponse(errorAnswer(nothingFound())), context, mountPoint));
    }
    if (hasDefaultErrorHandler(this.hono)) this.hono.onError((cause, context) => this.#answerFailure(cause, context));
    this.hono.use = () => {
      throw middlewareTooLate();
    };
  }

  /**
   * Whether the built-in route is the first one in the app that matches a POST to `path`, so that Hono can be skipped. The
   * result never changes: routes that are added later come after the built-in ones.
   */
  isDirect(path: string): boolean {
    if (!this.#hasDefaultMatching) return false;
    const [first] = this.#router.match("POST", path)[0];
    return this.#builtIn.has(first?.[0][0]);
  }

  #answerFailure(cause: unknown, context: Context): Response {
    const thrown = responseOf(cause);
    if (thrown) return context.newResponse(thrown.body, thrown);
    this.#options.log().error({ err: cause }, "A page or one of your routes failed.");
    return toResponse(errorAnswer(internalError(cause)));
  }
}

/**
 * Adds the headers that middleware has set on the context to the responses of `handler`. Hono adds them only to responses
 * that the context created, and the built-in routes create their own.
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

/** The response of an `HTTPException`: Hono's middleware throws one to end a request. */
function responseOf(cause: unknown): Response | undefined {
  if (typeof cause !== "object" || cause === null || !("getResponse" in cause)) return undefined;
  const response: unknown = typeof cause.getResponse === "function" ? cause.getResponse() : undefined;
  return isResponse(response) ? response : undefined;
}

/** Hono's default for errors writes to the console and answers with text. */
function hasDefaultErrorHandler(app: Hono): boolean {
  return readOwnField(app, "errorHandler") === readOwnField(new Hono(), "errorHandler");
}

/** Hono's two default functions that read the path of a request: with and without the option `strict`. */
function defaultGetPaths(): readonly unknown[] {
  return [new Hono().getPath, new Hono({ strict: false }).getPath];
}

/** @throws `OPTION_INVALID` */
function checkedApp(given: HonoApp): Hono {
  if (!isHono(given)) {
    throw optionError('Option "app" is not a Hono app. Pass the result of `new Hono()`.');
  }
  if (takenApps.has(given)) {
    throw optionError(
      'Option "app" belongs to another WebhooksServer already. Create a Hono app for each server, and mount the servers in a common parent: `parent.route("/a", first.app)`.',
    );
  }
  return given;
}

/** Without `instanceof`: the app may come from another copy of Hono. */
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
  return new WebhookError("Not found. Check the path.", { code: "NOT_FOUND", status: 404 });
}

function routesRefused(cause: unknown): WebhookError {
  return optionError(
    `Hono refused to add the built-in routes (${messageOf(cause)}). Create the server before the option "app" answers its first request.`,
    { cause },
  );
}

function routeHidden(path: string, basePath: string): WebhookError {
  return optionError(
    `The app has a route or middleware at "${path}", which never matches with the option basePath: "${basePath}". Paths in the app do not contain the base path: register it as "${path.slice(basePath.length) || "/"}", or leave out the option.`,
  );
}

function middlewareTooLate(): WebhookError {
  return new WebhookError(
    "server.app.use() was called after the server was created: this middleware would never run for deliveries and the other built-in routes. Register it first: `const app = new Hono(); app.use(…); const server = new WebhooksServer({ app });`.",
    { code: "MIDDLEWARE_TOO_LATE" },
  );
}
