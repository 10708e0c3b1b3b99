import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { type Caller, developmentTokens, findCaller } from "../accounts.ts";

/** The variables of a request to the API. */
export interface ApiEnvironment {
  Variables: { caller: Caller };
}

const knownTokens = developmentTokens.map(({ token }) => token).join(", ");

/** The maximum number of invalid fields in a message. */
const maxListedProblems = 5;

const errorCodes: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  413: "PayloadTooLarge",
  415: "UnsupportedMediaType",
};

/** Creates the error for an invalid request. Each problem starts with its field. */
export function invalid(problems: readonly string[]): HTTPException {
  return new HTTPException(400, { message: problems.slice(0, maxListedProblems).join("; ") });
}

/** The details of a request for the audit log. */
export function requestOf(context: Context<ApiEnvironment>): { caller: Caller; userAgent: string | undefined } {
  return { caller: context.var.caller, userAgent: context.req.header("user-agent") };
}

/**
 * Authenticates a request by its bearer token. A token with the role `read` can only read.
 *
 * @throws `HTTPException` 401 and 403.
 */
export async function authenticate(context: Context<ApiEnvironment>, next: () => Promise<void>): Promise<void> {
  const [, token] = /^Bearer +(\S+) *$/i.exec(context.req.header("authorization") ?? "") ?? [];
  if (token === undefined) {
    throw new HTTPException(401, {
      message: `Send "Authorization: Bearer TOKEN" with a token of the local Hub: ${knownTokens}.`,
    });
  }
  const caller = findCaller(token);
  if (!caller) {
    throw new HTTPException(401, { message: `Unknown token. Valid tokens of the local Hub: ${knownTokens}.` });
  }
  if (caller.tokenRole === "read" && context.req.method !== "GET" && context.req.method !== "HEAD") {
    throw new HTTPException(403, { message: "This token has read access only. Use hf_local to write." });
  }
  context.set("caller", caller);
  await next();
}

/** Creates an error response in the format of the Hub: `{error}`, with the same message in headers. */
export function errorResponse({ status, message }: { status: number; message: string }): Response {
  return Response.json(
    { error: message },
    {
      status,
      headers: {
        "x-error-code": errorCodes[status] ?? "InternalError",
        // Headers can contain only printable ASCII, and clients reject long ones.
        "x-error-message": message.slice(0, 4_000).replace(/[^ -~]/g, "?"),
        ...(status === 401 && { "www-authenticate": "Bearer" }),
      },
    },
  );
}
