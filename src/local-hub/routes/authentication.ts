import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { type Caller, developmentTokens, findCaller } from "../accounts.ts";
import type { ApiRequest } from "../resources/organizations/audit-log.ts";

/** The variables of a request to the API. */
export interface ApiEnvironment {
  Variables: {
    /** The caller. Only operations with the token requirement `optional` must read `optionalCaller` instead. */
    caller: Caller;
    /** The caller, or `undefined` if the request has no token. */
    optionalCaller: Caller | undefined;
  };
}

/**
 * The token that an operation requires. `write`: a token that can write. `read`: any token. `optional`: any token, or no token for
 * public repositories.
 */
export type TokenRequirement = "write" | "read" | "optional";

const knownTokens = developmentTokens.map(({ token }) => token).join(", ");

/** Returns the details of a request for the audit log. */
export function requestOf(context: Context<ApiEnvironment>): ApiRequest {
  return { caller: context.var.caller, userAgent: context.req.header("user-agent") };
}

/**
 * Identifies the caller by the bearer token. Accepts requests without a token, which {@link requireToken} rejects.
 *
 * @throws `HTTPException` 401 if the token is unknown.
 */
export async function authenticate(context: Context<ApiEnvironment>, next: () => Promise<void>): Promise<void> {
  const [, token] = /^Bearer +(\S+) *$/i.exec(context.req.header("authorization") ?? "") ?? [];
  const caller = token === undefined ? undefined : findCaller(token);
  if (token !== undefined && !caller) {
    throw new HTTPException(401, { message: `Unknown token. Valid tokens of the local Hub: ${knownTokens}.` });
  }
  context.set("optionalCaller", caller);
  if (caller) context.set("caller", caller);
  await next();
}

/**
 * Checks the token of an authenticated request. Tokens with the role `read` can only read.
 *
 * @throws `HTTPException` 401 if the token is missing, 403 if the token cannot write.
 */
export function requireToken({ var: { optionalCaller } }: Context<ApiEnvironment>, required: TokenRequirement): void {
  if (required === "optional") return;
  if (!optionalCaller) throw tokenMissing();
  if (required === "write" && optionalCaller.tokenRole === "read") {
    throw new HTTPException(403, { message: "This token has read access only. Use hf_local to write." });
  }
}

/** Creates the error for a request without a token. */
export function tokenMissing(): HTTPException {
  return new HTTPException(401, {
    message: `Send "Authorization: Bearer TOKEN" with a token of the local Hub: ${knownTokens}.`,
  });
}
