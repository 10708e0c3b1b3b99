import { type Context, Hono } from "hono";
import { WebhookError } from "../../core/errors.ts";
import { consolePath } from "../../core/urls.ts";
import { errorAnswer, toResponse } from "../../http/answer.ts";
import { type ConsoleFeature, type ConsolePlace, type SessionInfo, signInRequest } from "../protocol/session.ts";
import { type ConsoleAccess, signInRequired } from "./access.ts";
import type { ConsoleEvents } from "./console-events.ts";
import { FieldError } from "./field-error.ts";
import { framedPage } from "./framed-page.ts";
import { readBody } from "./requests.ts";
import { consoleHeaders } from "./security-headers.ts";
import type { Session } from "./session-tokens.ts";
import { StaticFiles } from "./static-files.ts";
import { streamEvents } from "./stream.ts";

/**
 * Adds the routes of one feature, such as `app.get("/deliveries", …)`, below `/_console/api`. The routes only run for signed-in
 * requests, and changes only with a valid CSRF token. Thrown `WebhookError`s become answers.
 */
export type ConsoleResource = (app: Hono) => void;

export interface ConsoleOptions {
  place: ConsolePlace;
  /** The features of this place, in the order of the navigation. Read at each request. */
  features: () => readonly ConsoleFeature[];
  /** The version of the package. */
  version: string;
  access: ConsoleAccess;
  resources: readonly ConsoleResource[];
  events: ConsoleEvents;
  /** Called if a client that is not signed in opens the console, and only a one-time link signs in. */
  onLinkNeeded?: (() => void) | undefined;
  /** Logs errors whose cause only the log may contain. */
  onError: (error: unknown) => void;
  /** Replaces secrets in the messages of errors. By default, messages are unchanged. */
  mask?: (message: string) => string;
}

/** The maximum size of a sign-in, in bytes. Clients that are not signed in must not cause large reads. */
const maxSignInBytes = 16_384;

type ConsoleApp = Hono<{ Variables: { session: Session } }>;

/**
 * The web console: the app, its sign-in, and its API. A receiver, a dev session, and the local Hub each serve one, with the
 * resources that exist there.
 */
export class Console {
  readonly #options: ConsoleOptions;
  readonly #app: Hono;
  readonly #files = new StaticFiles();

  constructor(options: ConsoleOptions) {
    this.#options = options;
    this.#app = this.#createApp();
  }

  /**
   * Answers a request whose path contains {@link consolePath}, below any prefix. Never rejects.
   *
   * @param bindings what Hono's adapter passes with the request.
   */
  async fetch(request: Request, bindings: unknown = {}): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    if (!pathname.endsWith(consolePath)) return this.#app.fetch(request, bindings ?? {});
    // A relative redirect works below any prefix of a proxy.
    return new Response(null, { status: 308, headers: { ...consoleHeaders, Location: `.${consolePath}/${search}` } });
  }

  /** Creates a one-time sign-in link. `baseUrl`: the URL of the server, without a trailing slash. */
  createSignInLink(baseUrl: string): string {
    return this.#options.access.links.create(`${baseUrl}${consolePath}/`);
  }

  /** Ends the live streams, so that the server can stop. */
  close(): void {
    this.#options.events.close();
  }

  #createApp(): Hono {
    const app = new Hono({ getPath: pathInConsole });
    app.use(async (context, next) => {
      await next();
      for (const [name, value] of Object.entries(consoleHeaders)) {
        if (!context.res.headers.has(name)) context.res.headers.set(name, value);
      }
    });
    app.get("/", (context) => this.#page(context));
    app.get("/assets/:name", (context) => this.#asset(context));
    app.route("/api", this.#createApi());
    app.notFound(() => toResponse(errorAnswer(notFound())));
    app.onError((error) => this.#answerError(error));
    return app;
  }

  #createApi(): ConsoleApp {
    const { access, events, resources, onLinkNeeded } = this.#options;
    const api: ConsoleApp = new Hono();
    api.get("/session", async (context) => {
      const session = await access.sessionOf(context);
      if (!session && !access.hasToken) onLinkNeeded?.();
      return context.json(this.#describe(session));
    });
    api.post("/session", async (context) => {
      const request = await readBody(context, signInRequest, { maxBytes: maxSignInBytes });
      const { session, cookie } = await access.signIn(context, request);
      return context.json(this.#describe(session), 200, { "Set-Cookie": cookie });
    });
    api.use(async (context, next) => {
      const session = await access.sessionOf(context);
      if (!session) throw signInRequired();
      if (!["GET", "HEAD"].includes(context.req.method)) access.checkChange(context, session);
      context.set("session", session);
      await next();
    });
    api.delete("/session", async (context) =>
      context.json(this.#describe(undefined), 200, { "Set-Cookie": await access.signOut(context) }),
    );
    api.get("/stream", (context) => streamEvents(context, { events, session: context.get("session") }));
    const routes = new Hono();
    for (const add of resources) add(routes);
    api.route("/", routes);
    return api;
  }

  async #page(context: Context): Promise<Response> {
    // A Space shows its app in a frame, in which the console cannot be signed in to or shown.
    if (/^(?:iframe|frame|embed|object|fencedframe)$/.test(context.req.header("sec-fetch-dest") ?? "")) {
      return framedPage();
    }
    const page = await this.#files.get("index.html");
    if (!page) throw notFound();
    return context.body(page.bytes, 200, { "Content-Type": page.mediaType });
  }

  async #asset(context: Context): Promise<Response> {
    const file = await this.#files.get(`assets/${context.req.param("name")}`);
    if (!file) throw notFound();
    // The names contain a hash of the content.
    return context.body(file.bytes, 200, {
      "Content-Type": file.mediaType,
      "Cache-Control": "public, max-age=31536000, immutable",
    });
  }

  #describe(session: Session | undefined): SessionInfo {
    const { place, features, version, access } = this.#options;
    if (!session) {
      const linkFrom = place === "receiver" ? "log" : place;
      return { signedIn: false, place, methods: { token: access.hasToken, linkFrom } };
    }
    return { signedIn: true, place, features: features(), csrfToken: session.csrfToken, version };
  }

  #answerError(error: unknown): Response {
    if (FieldError.isInstance(error)) return Response.json(error.toJSON(), { status: error.status });
    if (WebhookError.isInstance(error) && error.code !== "INTERNAL") {
      const status = error.status ?? (error.code === "OPTION_INVALID" ? 400 : 503);
      if (status >= 500) this.#options.onError(error);
      const { code, retryAfterSeconds } = error;
      const message = this.#options.mask?.(error.message) ?? error.message;
      return toResponse(
        errorAnswer(
          new WebhookError(message, { code, status, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }),
        ),
      );
    }
    this.#options.onError(error);
    const message = "The console could not answer this request. See the log of the server for the cause.";
    return toResponse(errorAnswer(new WebhookError(message, { code: "INTERNAL", status: 500 })));
  }
}

/** Returns the part of the path after {@link consolePath}, because a proxy or a parent app may add a prefix. */
function pathInConsole(request: Request): string {
  const { pathname } = new URL(request.url);
  return pathname.slice(pathname.indexOf(consolePath) + consolePath.length);
}

function notFound(): WebhookError {
  return new WebhookError("The console has nothing at this path. Open it without the rest of the path.", {
    code: "NOT_FOUND",
    status: 404,
  });
}
