import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { type Caller, developmentTokens, findCaller } from "../accounts.ts";
import type { ApiRequest } from "../resources/organizations/audit-log.ts";

/** The variables of a request to the API. */
export interface ApiEnvironment {
  Variables: { caller: Caller };
}

const knownTokens = developmentTokens.map(({ token }) => token).join(", ");

/** Returns the details of a request for the audit log. */
export function requestOf(context: Context<ApiEnvironment>): ApiRequest {
  return { caller: context.var.caller, userAgent: context.req.header("user-agent") };
}

/**
 * Authenticates a request by its bearer token. Tokens with the role `read` can only read.
 *
 * @throws `HTTPException` 401 if the token is missing or unknown, 403 if the token cannot write.
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
