import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HTTPException } from "hono/http-exception";
import type { Console } from "../console/server/console.ts";
import { WebhookError } from "../core/errors.ts";
import { isLoopbackHost } from "../core/loopback.ts";
import { consolePath } from "../core/urls.ts";
import { deriveTokenId, developmentTokens } from "./accounts.ts";
import { CodedException, errorResponse } from "./error-response.ts";
import type { HubContext } from "./hub-context.ts";
import { openApiDocument } from "./openapi/openapi-document.ts";
import { avatarResponse } from "./resources/avatars.ts";
import { type ApiEnvironment, authenticate, requireToken } from "./routes/authentication.ts";
import { commitPath } from "./routes/commits.ts";
import { controlApi } from "./routes/control.ts";
import { resourceApis } from "./routes/index.ts";
import { uploadPath } from "./routes/lfs.ts";
import { RepositoryMovedException } from "./routes/repository-access.ts";
import { isReadMethod } from "./routes/route.ts";
import { s3Gateway, s3Path } from "./routes/s3/gateway.ts";

/** The maximum size of a request body. Valid requests are smaller. */
const maxBodyBytes = 10 * 1024 * 1024;

/** The remedy for handlers that call `hub.fetch` with a path that the local Hub does not support. */
const unsupportedCallHint =
  "The local Hub serves only the operations that GET /openapi.json lists. To test a handler that calls other operations, pass a fake fetch function: new HubClient({ fetch }).";

/** Whether a request uploads files. Its route limits the size of the body. */
function isUpload({ method, path }: { method: string; path: string }): boolean {
  if (path.startsWith(s3Path)) return true;
  return method === "PUT" ? path.startsWith(uploadPath) : method === "POST" && commitPath.test(path);
}

/** The HTTP server of the local Hub: the Hub's API, the control API, the OpenAPI document, and the console. */
export function createHubApp(hub: HubContext, { console }: { console: Console }): Hono<ApiEnvironment> {
  const { hubUrl, createId, log } = hub;
  const app = new Hono<ApiEnvironment>();

  app.use(async (context, next) => {
    await next();
    context.res.headers.set("x-request-id", createId());
  });
  app.use(async (context, next) => {
    // Without this check, a website whose host name resolves to this machine would have the same origin as the local
    // Hub (DNS rebinding).
    const host = URL.parse(`http://${context.req.header("host")}`)?.hostname ?? "";
    if (!isLoopbackHost(host)) {
      throw new HTTPException(403, {
        message: `Host "${host}" is not allowed. Use the URL of the local Hub: ${hubUrl}.`,
      });
    }
    await next();
  });
  const limitBody = bodyLimit({
    maxSize: maxBodyBytes,
    onError: () => {
      throw new HTTPException(413, {
        message: `The body is larger than ${maxBodyBytes} bytes. Send a smaller body.`,
      });
    },
  });
  app.use((context, next) => (isUpload(context.req) ? next() : limitBody(context, next)));

  for (const path of [consolePath, `${consolePath}/*`]) {
    app.all(path, (context) => console.fetch(context.req.raw, context.env));
  }

  app.use(authenticate);
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
  app.get("/settings/tokens", (context) =>
    context.text(
      developmentTokens
        .map(({ token, user, meaning }) => `${token}  ${deriveTokenId(token)}  ${user}, ${meaning}\n`)
        .join(""),
    ),
  );
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
      return errorResponse({
        status: error.status,
        message: error.message,
        ...(error instanceof CodedException && { code: error.code }),
      });
    }
    log.error({ err: error }, "A request to the local Hub failed with an unexpected error.");
    return errorResponse({ status: 500, message: "The local Hub failed. See the log of the local Hub for the cause." });
  });
  return app;
}
