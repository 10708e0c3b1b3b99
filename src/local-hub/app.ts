import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { html } from "hono/html";
import { HTTPException } from "hono/http-exception";
import { getPath } from "hono/utils/url";
import type { Console } from "../console/server/console.ts";
import { WebhookError } from "../core/errors.ts";
import { consolePath, isLoopbackHost } from "../core/urls.ts";
import { accountId, deriveTokenId, developmentTokens } from "./accounts.ts";
import { CodedException, errorResponse, forbidden, incompleteBody, isIncompleteBody } from "./error-response.ts";
import type { HubContext } from "./hub-context.ts";
import { openApiDocument } from "./openapi.ts";
import { xetPath } from "./resources/buckets/xet.ts";
import { commitPath } from "./resources/repositories/commits.ts";
import { uploadPath } from "./resources/repositories/lfs.ts";
import { controlApi } from "./routes/control.ts";
import { resourceApis } from "./routes/index.ts";
import { RepositoryMovedException } from "./routes/repository-access.ts";
import { type ApiEnvironment, authenticate, isReadMethod, requireToken } from "./routes/route.ts";
import { s3Gateway, s3Path } from "./s3/gateway.ts";

/** The maximum size of a request body. Valid requests are smaller. */
const maxBodyBytes = 10 * 1024 * 1024;

const unsupportedCallHint =
  "The local Hub serves only the operations that GET /openapi.json lists. To test a handler that calls other operations, pass a fake fetch function: new HubClient({ fetch }).";

/** Whether a request uploads files. Its route limits the size of the body. */
function isUpload({ method, path }: { method: string; path: string }): boolean {
  if (path.startsWith(s3Path) || path.startsWith(xetPath)) return true;
  return method === "PUT" ? path.startsWith(uploadPath) : method === "POST" && commitPath.test(path);
}

/** The HTTP server of the local Hub: the Hub's API, the control API, the OpenAPI document, and the console. */
export function createHubApp(hub: HubContext, { console }: { console: Console }): Hono<ApiEnvironment> {
  const { hubUrl, createId, log } = hub;
  const app = new Hono<ApiEnvironment>({ getPath: (request) => routedPath(request, hub) });

  app.use(async (context, next) => {
    await next();
    context.res.headers.set("x-request-id", createId());
  });
  app.use(async (context, next) => {
    // Without this check, a website whose host name resolves to this machine would have the same origin as the local
    // Hub (DNS rebinding).
    const host = URL.parse(`http://${context.req.header("host")}`)?.hostname ?? "";
    if (!isLoopbackHost(host)) {
      throw forbidden(`Host "${host}" is not allowed. Use the URL of the local Hub: ${hubUrl}.`);
    }
    await next();
  });
  const limitBody = bodyLimit({
    maxSize: maxBodyBytes,
    onError: () => {
      const message = `The body is larger than ${maxBodyBytes} bytes. Send a smaller body.`;
      throw new HTTPException(413, { message });
    },
  });
  app.use((context, next) => (isUpload(context.req) ? next() : limitBody(context, next)));

  app.use(async (context, next) => {
    const { method, path } = context.req;
    if (hub.changesHeldUntil && !isReadMethod(method) && eventPaths.test(path)) await hub.changesHeldUntil;
    await next();
  });
  for (const path of [consolePath, `${consolePath}/*`]) {
    app.all(path, (context) => console.fetch(context.req.raw, context.env));
  }

  // Clients send other tokens to the storage of buckets.
  app.use((context, next) => (context.req.path.startsWith(xetPath) ? next() : authenticate(context, next)));
  for (const api of resourceApis) api.serve(app, hub);
  // Unknown paths also require a token.
  app.use("/api/*", (context, next) => {
    requireToken(context, isReadMethod(context.req.method) ? "read" : "write");
    return next();
  });
  app.route("/_local", controlApi(hub));
  app.route("/", s3Gateway(hub));

  app.get("/openapi.json", (context) => context.json(openApiDocument({ serverUrl: hubUrl })));
  app.get("/", (context) => context.redirect(`${consolePath}/${new URL(context.req.url).search}`));
  // The console of a receiver links to these pages of the Hub.
  app.get("/settings/webhooks", (context) => context.redirect(`${consolePath}/#/webhooks`));
  app.get("/settings/webhooks/:id", (context) =>
    context.redirect(`${consolePath}/#/webhooks/one?id=${encodeURIComponent(context.req.param("id"))}`),
  );
  // Error messages from `HubClient` link to this page.
  const tokens = developmentTokens.map(
    ({ token, user, meaning }) => `${token}  ${deriveTokenId(token)}  ${user}, ${meaning}\n`,
  );
  app.get("/settings/tokens", (context) => context.text(tokens.join("")));
  app.get("/avatars/:file", (context) => avatarResponse(context.req.param("file")) ?? context.notFound());

  app.notFound((context) => {
    const { method, path } = context.req;
    return errorResponse({
      status: 404,
      message: `The local Hub has no ${method} ${path}. ${path.startsWith("/api/") ? unsupportedCallHint : ""}`.trim(),
    });
  });
  app.onError((error, context) => {
    if (WebhookError.isInstance(error) && error.code === "ARGUMENT_INVALID") {
      return errorResponse({ status: 400, message: error.message });
    }
    if (error instanceof RepositoryMovedException) {
      return context.body(null, 307, { location: error.locate(context.req.url) });
    }
    if (error instanceof HTTPException) {
      const code = error instanceof CodedException ? { code: error.code } : {};
      return errorResponse({ status: error.status, message: error.message, ...code });
    }
    if (isIncompleteBody(error)) return errorResponse({ status: 400, message: incompleteBody });
    log.error({ err: error }, "A request to the local Hub failed with an unexpected error.");
    return errorResponse({ status: 500, message: "The local Hub failed. See the log of the local Hub for the cause." });
  });
  return app;
}

/**
 * Returns the path of a request for the router. The paths of repositories without an owner, such as `/api/models/gpt2/refs`, get an empty
 * owner, so that the routes for `owner/name` serve them. If `gpt2/refs` is a repository too, the path means that one.
 */
function routedPath(request: Request, { store: { repositories } }: HubContext): string {
  const path = getPath(request);
  const [, prefix, name, rest = "", part] = apiPath.exec(path) ?? filePath.exec(path) ?? [];
  if (prefix === undefined || name === undefined) return path;
  const repo = { type: /dataset|space/.exec(prefix)?.[0] ?? "model", name: `${name}/${part}` };
  const isOther = part !== undefined && (repositories.get(repo) ?? repositories.findMoved(repo));
  return isOther ? path : `${prefix}//${name}${rest}`;
}

const apiPath =
  /^(\/api\/(?:models|datasets|spaces))\/(?!hardware$)([^/]+)(\/(auth-check|branch|commits?|compare|discussions|paths-info|preupload|refs|revision|settings|super-squash|tag|tree|xet-(?:read|write)-token)(?:\/.*)?)?$/;

const filePath = /^(\/(?:datasets|spaces)|)\/([^/]+)(\/(resolve|raw|info)\/.*)$/;

/** The paths of changes to repositories, which fire webhooks. */
const eventPaths = /^\/(?:api\/(?:models|datasets|spaces|repos|buckets)|_local\/events)(?:\/|$)/;

/** Prevents the image from loading resources or running scripts, even if it is opened as a document. */
const contentSecurityPolicy =
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

/** `undefined` if the file name does not end in `.svg`. The avatar shows the initial of the name on a color that is derived from it. */
function avatarResponse(file: string): Response | undefined {
  const [, name] = /^(.+)\.svg$/s.exec(file) ?? [];
  if (name === undefined) return undefined;
  return new Response(draw(name), {
    headers: {
      "Content-Type": "image/svg+xml; charset=utf-8",
      "Content-Security-Policy": contentSecurityPolicy,
      "X-Content-Type-Options": "nosniff",
      "Cache-Control": "public, max-age=3600",
    },
  });
}

function draw(name: string): string {
  // XML cannot represent these characters.
  const title = name.toWellFormed().replace(/[\p{Cc}\uFFFE\uFFFF]/gu, "\uFFFD");
  const [initial = ""] = title.toUpperCase();
  const hue = Number.parseInt(accountId(name).slice(0, 6), 16) % 360;
  return `${html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="${title}">
  <rect width="64" height="64" fill="hsl(${hue}, 60%, 88%)"/>
  <text x="32" y="43" font-family="system-ui, sans-serif" font-size="32" font-weight="600" text-anchor="middle" fill="hsl(${hue}, 60%, 25%)">${initial}</text>
</svg>
`}`;
}
