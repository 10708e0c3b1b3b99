import { createHash } from "node:crypto";
import { type Caller, developmentTokens, findCaller } from "../accounts.ts";

/** An access key of the S3 API. */
export interface AccessKey {
  accessKeyId: string;
  secretAccessKey: string;
}

/**
 * Derives the access key of a token. The key is the same on every local Hub, and is not valid on the real Hub. It has the access of
 * the token.
 */
export function deriveAccessKey(token: string): AccessKey {
  const digest = (purpose: string) => createHash("sha256").update(`${purpose} ${token}`);
  return {
    accessKeyId: `HFAK${digest("access key").digest("hex").slice(0, 16).toUpperCase()}`,
    secretAccessKey: digest("secret access key").digest("base64url").slice(0, 40),
  };
}

const keys: ReadonlyMap<string, { secretAccessKey: string; token: string }> = new Map(
  developmentTokens.map(({ token }) => {
    const { accessKeyId, secretAccessKey } = deriveAccessKey(token);
    return [accessKeyId, { secretAccessKey, token }];
  }),
);

/** Returns the secret and the caller of an access key, or `undefined` if the key is unknown. */
export function findAccessKey(accessKeyId: string): { secretAccessKey: string; caller: Caller } | undefined {
  const key = keys.get(accessKeyId);
  const caller = key && findCaller(key.token);
  return caller && { secretAccessKey: key.secretAccessKey, caller };
}
