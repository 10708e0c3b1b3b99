import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { fieldProblems } from "../../hub/arguments.ts";
import { type Caller, developmentTokens, findCaller } from "../accounts.ts";

/** What a route of the API is told of a request. */
export interface ApiEnvironment {
  Variables: { caller: Caller };
}

const knownTokens = developmentTokens.map(({ token }) => token).join(", ");

/** How many invalid fields a refusal names. */
const problemsNamed = 5;

const errorCodes: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  413: "PayloadTooLarge",
  415: "UnsupportedMediaType",
};

/** An app for routes of the contract: a request that breaks it is refused with 400 and the fields that are wrong. */
export function createApiApp(): OpenAPIHono<ApiEnvironment> {
  return new OpenAPIHono<ApiEnvironment>({
    defaultHook: (result) => {
      if (result.success) return;
      const problems = fieldProblems(result.error, { name: result.target === "json" ? "body" : result.target });
      throw invalid(problems.map(({ field, problem }) => `${field}: ${problem}`));
    },
  });
}

/** The refusal of a request with these problems, each with its field. */
export function invalid(problems: readonly string[]): HTTPException {
  return new HTTPException(400, { message: problems.slice(0, problemsNamed).join("; ") });
}

/** How something came in, for an audit log. */
export function requestOf(context: Context<ApiEnvironment>): { caller: Caller; userAgent: string | undefined } {
  return { caller: context.var.caller, userAgent: context.req.header("user-agent") };
}

/**
 * Finds out who a request comes from, by its bearer token, and lets a token of role read do nothing but read.
 *
 * @throws HTTPException 401, 403.
 */
export async function authenticate(context: Context<ApiEnvironment>, next: () => Promise<void>): Promise<void> {
  const [, token] = /^Bearer +(\S+) *$/i.exec(context.req.header("authorization") ?? "") ?? [];
  if (token === undefined) {
    throw new HTTPException(401, {
      message: `Send "Authorization: Bearer TOKEN" with a token that a local Hub knows: ${knownTokens}.`,
    });
  }
  const caller = findCaller(token);
  if (!caller) {
    throw new HTTPException(401, { message: `This token is unknown here: a local Hub knows ${knownTokens}.` });
  }
  if (caller.tokenRole === "read" && context.req.method !== "GET" && context.req.method !== "HEAD") {
    throw new HTTPException(403, { message: "This token may only read: hf_local may write." });
  }
  context.set("caller", caller);
  await next();
}

/** A refusal as the Hub words one: `{error}`, with the same in headers. */
export function refusal({ status, message }: { status: number; message: string }): Response {
  return Response.json(
    { error: message },
    {
      status,
      headers: {
        "x-error-code": errorCodes[status] ?? "InternalError",
        // A header holds printable ASCII only, and clients refuse long ones.
        "x-error-message": message.slice(0, 4_000).replace(/[^ -~]/g, "?"),
        ...(status === 401 && { "www-authenticate": "Bearer" }),
      },
    },
  );
}
