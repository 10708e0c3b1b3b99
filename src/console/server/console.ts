import { readdir, readFile } from "node:fs/promises";
import { type Context, Hono } from "hono";
import { WebhookError } from "../../core/errors.ts";
import { packageRoot } from "../../core/files.ts";
import { loadOnce } from "../../core/time.ts";
import { consolePath } from "../../core/urls.ts";
import { errorAnswer, toResponse } from "../../http/answer.ts";
import { tokens } from "../design/tokens.ts";
import { hubFrames } from "../pages/document.ts";
import { type ConsoleFeature, type ConsolePlace, type SessionInfo, signInRequest } from "../protocol/session.ts";
import { type ConsoleAccess, type Session, signInRequired } from "./access.ts";
import { type ConsoleResource, FieldError, readBody } from "./api.ts";
import { type ConsoleEvents, streamEvents } from "./events.ts";

export interface ConsoleOptions {
  place: ConsolePlace;
  /** The features of this place, in the order of the navigation. Read at each request. */
  features: () => readonly ConsoleFeature[];
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
  readonly #readFile = createFileReader();

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
    const page = await this.#readFile("index.html");
    if (!page) throw notFound();
    return context.body(page.bytes, 200, { "Content-Type": page.mediaType });
  }

  async #asset(context: Context): Promise<Response> {
    const file = await this.#readFile(`assets/${context.req.param("name")}`);
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
    if (error instanceof FieldError) return Response.json(error.answer, { status: error.status });
    if (WebhookError.isInstance(error) && error.code !== "INTERNAL") {
      const status = error.status ?? (error.code === "OPTION_INVALID" ? 400 : 503);
      if (status >= 500) this.#options.onError(error);
      const { code, retryAfterSeconds } = error;
      const message = this.#options.mask?.(error.message) ?? error.message;
      const retryAfter = retryAfterSeconds !== undefined && { retryAfterSeconds };
      return toResponse(errorAnswer(new WebhookError(message, { code, status, ...retryAfter })));
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

const styles = `${tokens}
body {
  margin: 12vh auto 2rem;
  padding-inline: 1rem;
  max-width: 28rem;
  background: var(--ground);
  color: var(--quiet);
  font: 0.9375rem/1.5 var(--sans);
}
h1 { margin: 0; font-size: 1.25rem; line-height: 1.3; color: var(--ink); }
p { margin: 0.5rem 0 0; }
a {
  display: inline-block;
  margin-top: 0.75rem;
  padding: 0.5rem 1rem;
  border-radius: var(--radius);
  background: var(--accent);
  color: var(--on-accent);
  font-weight: 600;
  text-decoration: none;
}
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
`;

/** The page that a frame shows instead of the console: no data, no script, and one style sheet. */
function framedPage(): Response {
  const styleNonce = crypto.randomUUID();
  const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>hub-webhooks console</title>
    <style nonce="${styleNonce}">${styles}</style>
  </head>
  <body>
    <main>
      <h1>Open the console in its own tab</h1>
      <p>Browsers do not let a page in a frame keep you signed in.</p>
      <p><a href="" target="_blank" rel="noopener">Open the console</a></p>
    </main>
  </body>
</html>
`;
  return new Response(page, {
    headers: {
      ...shared,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": `default-src 'none'; style-src 'nonce-${styleNonce}'; base-uri 'none'; form-action 'none'; frame-ancestors ${hubFrames}`,
      "Cache-Control": "no-store",
    },
  });
}

const mediaTypes: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

interface StaticFile {
  bytes: Uint8Array<ArrayBuffer>;
  mediaType: string;
}

/**
 * Creates a function that returns a file of the app by its path, such as `assets/index-3f9c.js`, or `undefined`. The build writes the
 * files to `dist/console`, and they are read once. They are listed rather than looked up, so a path cannot leave the folder.
 *
 * @throws `CONSOLE_NOT_BUILT` (503).
 */
export function createFileReader(): (path: string) => Promise<StaticFile | undefined> {
  // After a failure, the next request tries again: the process may have been out of file descriptors.
  const readAll = loadOnce(readFiles);
  return async (path) => (await readAll()).get(path);
}

async function readFiles(): Promise<ReadonlyMap<string, StaticFile>> {
  const folder = new URL("dist/console/", packageRoot);
  const readOne = async (path: string): Promise<[string, StaticFile]> => {
    const extension = path.slice(path.lastIndexOf(".") + 1);
    const bytes = new Uint8Array(await readFile(new URL(path, folder)));
    return [path, { bytes, mediaType: mediaTypes[extension] ?? "application/octet-stream" }];
  };
  try {
    const assets = await readdir(new URL("assets/", folder));
    return new Map(await Promise.all(["index.html", ...assets.map((name) => `assets/${name}`)].map(readOne)));
  } catch (cause) {
    throw new WebhookError("The files of the console cannot be read. Build the package with `npm run build`.", {
      code: "CONSOLE_NOT_BUILT",
      status: 503,
      cause,
    });
  }
}

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
];

const shared: Readonly<Record<string, string>> = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/**
 * The headers of the console. Nothing inline runs, no request leaves the origin, and no page can show the console in a frame: a
 * click on a hidden frame could replay deliveries.
 */
const consoleHeaders: Readonly<Record<string, string>> = {
  ...shared,
  "Content-Security-Policy": [...contentSecurityPolicy, "frame-ancestors 'none'"].join("; "),
  "Cache-Control": "no-store",
};
