import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HTTPException } from "hono/http-exception";
import { WebhookError } from "../core/errors.ts";
import { isLoopbackHost } from "../core/loopback.ts";
import { deriveTokenId, developmentTokens } from "./accounts.ts";
import { hubPage, hubPageAsset } from "./page/page.ts";
import { readPageInfo } from "./read-page-info.ts";
import { avatarResponse } from "./resources/avatars.ts";
import { accountApi } from "./routes/account.ts";
import { type ApiEnvironment, authenticate, refusal } from "./routes/api.ts";
import { type ControlRoutesOptions, controlApi } from "./routes/control.ts";
import { hubDocument } from "./routes/document.ts";
import { jobApi } from "./routes/jobs.ts";
import { notificationApi } from "./routes/notifications.ts";
import { auditLogApi } from "./routes/organizations/audit-log.ts";
import { avatarApi } from "./routes/organizations/avatar.ts";
import { memberApi } from "./routes/organizations/members.ts";
import { networkSecurityApi } from "./routes/organizations/network-security.ts";
import { resourceGroupApi } from "./routes/organizations/resource-groups.ts";
import { scimApi } from "./routes/organizations/scim.ts";
import { tokenApi } from "./routes/organizations/tokens.ts";
import { paperApi } from "./routes/papers.ts";
import { settingsApi } from "./routes/settings.ts";
import { webhookApi } from "./routes/webhooks.ts";

export interface HubAppOptions extends ControlRoutesOptions {
  runsJobs: boolean;
  allowsRemote: boolean;
  startedAt: Date;
}

/** Longer than this is no request that the API knows. */
const maxBodyBytes = 10 * 1024 * 1024;

/** What Hono's own checks say, with the next step. */
const messages: Readonly<Record<string, string>> = {
  "Unsupported Media Type": "Send the body as content-type: application/json.",
  "Malformed JSON in request body": "The body is not JSON: check its quotes, commas and brackets.",
};

/** For a handler that calls what `hub.fetch` reaches on the real Hub. */
const unsupportedCallHint =
  "A local Hub serves what hub-api.md lists and nothing else: where a handler calls more, give it a stand-in here, and in a test new HubClient({ fetch }).";

/** Everything that a local Hub answers: the API of the contract, the control of it, its document and its page. */
export function createHubApp(options: HubAppOptions): Hono<ApiEnvironment> {
  const { baseUrl, createId, log } = options;
  const app = new Hono<ApiEnvironment>();

  app.use(async (context, next) => {
    await next();
    context.res.headers.set("x-request-id", createId());
  });
  app.use(async (context, next) => {
    // A page of any site can have its own name point here (DNS rebinding), and would then be of the same origin.
    const host = URL.parse(`http://${context.req.header("host")}`)?.hostname ?? "";
    if (!isLoopbackHost(host)) {
      throw new HTTPException(403, { message: `Ask for the local Hub by its own address, ${baseUrl}.` });
    }
    await next();
  });
  app.use(
    bodyLimit({
      maxSize: maxBodyBytes,
      onError: () => {
        throw new HTTPException(413, { message: `The body is longer than ${maxBodyBytes} bytes.` });
      },
    }),
  );

  app.use("/api/*", authenticate);
  app.route("/", accountApi(options));
  app.route("/", auditLogApi(options));
  app.route("/", avatarApi(options));
  app.route("/", jobApi());
  app.route("/", memberApi(options));
  app.route("/", networkSecurityApi(options));
  app.route("/", notificationApi(options));
  app.route("/", paperApi(options));
  app.route("/", resourceGroupApi(options));
  app.route("/", scimApi(options));
  app.route("/", settingsApi(options));
  app.route("/", tokenApi(options));
  app.route("/", webhookApi(options));
  app.route("/_local", controlApi(options));

  app.get("/openapi.json", (context) => context.json(hubDocument({ serverUrl: baseUrl })));
  app.get("/", (context) => hubPage(readPageInfo(options, { theme: context.req.query("__theme") })));
  // Where an error of the client says that tokens are to be found.
  app.get("/settings/tokens", (context) =>
    context.text(
      developmentTokens
        .map(({ token, user, meaning }) => `${token}  ${deriveTokenId(token)}  ${user}, ${meaning}\n`)
        .join(""),
    ),
  );
  app.get("/avatars/:file", (context) => avatarResponse(context.req.param("file")) ?? context.notFound());
  app.get("/_page/:name", (context) => hubPageAsset(context.req.param("name")) ?? context.notFound());

  app.notFound((context) => {
    const { method, path } = context.req;
    return refusal({
      status: 404,
      message: `There is no ${method} ${path} here. ${path.startsWith("/api/") ? unsupportedCallHint : ""}`.trim(),
    });
  });
  app.onError((error) => {
    if (WebhookError.isInstance(error) && error.code === "ARGUMENT_INVALID") {
      return refusal({ status: 400, message: error.message });
    }
    if (error instanceof HTTPException) {
      return refusal({ status: error.status, message: messages[error.message] ?? error.message });
    }
    log.error({ err: error }, "A request failed.");
    return refusal({ status: 500, message: "The local Hub failed: its log says why." });
  });
  return app;
}
