import type { Context } from "hono";
import { readField } from "../core/describe.ts";
import { readEnvironment, readSpace } from "../core/environment.ts";
import { WebhookError, type WebhookErrorOptions } from "../core/errors.ts";
import { equalInConstantTime, PasswordGuesses } from "../core/guesses.ts";
import type { Logger } from "../core/log.ts";
import { optionError } from "../core/options.ts";
import { errorAnswer, errorBehind, toResponse } from "../http/answer.ts";
import type { LaunchOptions } from "./options.ts";

/** A registered symbol, like `serverControl`. */
const deliveryOnlyKey = Symbol.for("hub-webhooks.deliveryOnly");

/** Marks a public URL at which only deliveries are accepted, so that the server's pages are not public. */
export function deliveryOnlyUrl(publicUrl: () => string): () => string {
  return Object.assign(publicUrl, { [deliveryOnlyKey]: true });
}

/**
 * Whether the pages of a server have a public URL: in a Space, with `PUBLIC_URL`, with the `publicUrl` launch option
 * (unless it is marked by {@link deliveryOnlyUrl}), and with the user's own tunnel. A tunnel that the server opens only
 * serves webhooks, so it does not make the pages public.
 */
export function isPubliclyReachable({ publicUrl, tunnel }: Pick<LaunchOptions, "publicUrl" | "tunnel"> = {}): boolean {
  if (readSpace() !== undefined || readEnvironment("PUBLIC_URL") !== undefined) return true;
  if (typeof tunnel === "object" && tunnel.existingUrl !== undefined) return true;
  return publicUrl !== undefined && !(typeof publicUrl === "function" && deliveryOnlyKey in publicUrl);
}

interface OwnerCheckOptions {
  /** The owner's password. Default `CONSOLE_TOKEN`. An empty password counts as unset. */
  token: string | undefined;
  now: () => number;
  refusalLog: Logger;
  /** The wrong tokens. By default, those of this object. */
  guesses?: PasswordGuesses;
  /**
   * Whether the pages have a public URL. If they do, a request without a token is never treated as local, because a
   * proxy that adds no headers may have forwarded it. Default: {@link isPubliclyReachable} without launch options.
   */
  isPublic?: () => boolean;
}

/** A shorter token can be guessed. */
const minTokenLength = 16;
const tokenRemedy = `Set it to a random value with at least ${minTokenLength} characters, such as the output of "openssl rand -base64 24"`;

export type OwnerCheck = ReturnType<typeof createOwnerCheck>;

/**
 * Checks whether a request comes from the owner, who may read payloads. The owner sends the console token as the password
 * of HTTP Basic authentication. If no token is set, requests from this machine count as requests of the owner.
 *
 * @throws `OPTION_INVALID` if the token in the options is not a string, or too short.
 */
export function createOwnerCheck(options: OwnerCheckOptions) {
  const { now, refusalLog, guesses = new PasswordGuesses(now), isPublic = isPubliclyReachable } = options;

  const tokenOf = (bindings: unknown): string | undefined => {
    const bound = readField(bindings, "CONSOLE_TOKEN");
    const token = options.token ?? (typeof bound === "string" ? bound : readEnvironment("CONSOLE_TOKEN"));
    return token === "" ? undefined : token;
  };

  /**
   * Returns the reason why all sign-ins are refused: `OPTION_INVALID` if the token is too short. An edge worker passes its `bindings`
   * with each request.
   */
  const problem = (bindings?: unknown): WebhookError | undefined => {
    const token: unknown = tokenOf(bindings);
    if (token === undefined || (typeof token === "string" && token.trim().length >= minTokenLength)) return undefined;
    const name = options.token === undefined ? "CONSOLE_TOKEN" : 'Option "consoleToken"';
    // Omits the value, which may be part of a secret.
    const what =
      typeof token === "string" ? `has fewer than ${minTokenLength} characters` : `is of type ${typeof token}`;
    return optionError(`${name} ${what}. ${tokenRemedy}, or remove it.`);
  };

  /** @throws the `problem`, if there is one. */
  const assertUsable = (): void => {
    const found = problem();
    if (found) throw found;
  };

  /** Returns the error response for every client if there is a `problem`: 503. */
  const refuseAll = (bindings?: unknown): Response | undefined => {
    const cause = problem(bindings);
    if (!cause) return undefined;
    const message = "The console token of the server is invalid. See the server's log.";
    return refusal(message, { code: cause.code, status: 503, cause });
  };

  /**
   * Returns the error response for a client that is not the owner: 401, 403, 503 if there is a `problem`, or 429 after too
   * many wrong tokens. Returns `undefined` for the owner.
   *
   * @param page.mayWait whether the response may wait while clients guess. If not, every token is refused meanwhile. Default `true`.
   */
  const refuse = async (context: Context, page: { mayWait?: boolean } = {}): Promise<Response | undefined> => {
    const refusedForAll = refuseAll(context.env);
    if (refusedForAll) return refusedForAll;
    const token = tokenOf(context.env);
    if (token === undefined) return !isPublic() && isAtThisMachine(context) ? undefined : tokenNotSet();
    const password = passwordOf(context.req.raw);
    if (password === undefined) return challenge("CONSOLE_TOKEN_MISSING");
    const checked = await guesses.check(() => equalInConstantTime(password, token.toWellFormed()), page);
    if (checked === "right") return undefined;
    const response = checked === "wrong" ? challenge("CONSOLE_TOKEN_INVALID") : tooManyFailures(checked);
    const fields = { path: context.req.path, code: errorBehind(response)?.code, status: response.status };
    refusalLog.warn(fields, "sign-in refused: wrong CONSOLE_TOKEN");
    return response;
  };

  if (options.token !== undefined) assertUsable();
  return {
    /** The wrong tokens, which the console counts too. */
    guesses,
    get token() {
      return tokenOf(undefined);
    },
    ...{ problem, assertUsable, refuseAll, refuse },
  };
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function passwordOf(request: Request): string | undefined {
  const credentials = /^Basic +([A-Za-z0-9+/]+=*) *$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  if (credentials === undefined) return undefined;
  try {
    const text = utf8.decode(Uint8Array.from(atob(credentials), (character) => character.charCodeAt(0)));
    return text.slice(text.indexOf(":") + 1);
  } catch {
    // Invalid base64 or UTF-8 counts as a wrong password.
    return "";
  }
}

/**
 * Whether the request was sent from this machine to this server. A local address is not sufficient: with DNS rebinding, a
 * page of another site can send requests to this server, and behind a proxy or tunnel every request has a local address.
 */
function isAtThisMachine(context: Context): boolean {
  const incoming = readField(context.env, "incoming");
  const address = readField(readField(incoming, "socket"), "remoteAddress");
  if (typeof address !== "string" || !/^(?:(?:::ffff:)?127(?:\.\d{1,3}){3}|::1)$/i.test(address)) return false;
  // By default, nginx adds no header. nginx up to 1.29.6 sends HTTP/1.0, which browsers never send.
  if (readField(incoming, "httpVersion") === "1.0") return false;
  const { headers } = context.req.raw;
  if (!/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(headers.get("host") ?? "")) return false;
  return ![...headers.keys()].some((name) => /^(?:forwarded|via|x-real-ip|x-forwarded-.*)$/i.test(name));
}

function refusal(message: string, options: WebhookErrorOptions): Response {
  return toResponse(errorAnswer(new WebhookError(message, options)));
}

function challenge(code: "CONSOLE_TOKEN_MISSING" | "CONSOLE_TOKEN_INVALID"): Response {
  const problem = code === "CONSOLE_TOKEN_INVALID" ? "The password is invalid. " : "";
  const signIn = "Sign in with any username and the value of CONSOLE_TOKEN as the password.";
  const response = refusal(`${problem}${signIn}`, { code, status: 401 });
  response.headers.set("www-authenticate", 'Basic realm="hub-webhooks", charset="UTF-8"');
  return response;
}

function tokenNotSet(): Response {
  return refusal(
    "Only the owner can open this page. Set CONSOLE_TOKEN (in a Space: Settings, Variables and secrets), restart the server, and sign in with its value as the password. Without CONSOLE_TOKEN, only a browser on the same machine can open the page, and only if the server has no public URL (PUBLIC_URL).",
    { code: "OWNER_ONLY", status: 403 },
  );
}

function tooManyFailures(retryAfterSeconds: number): Response {
  const message = "Too many wrong passwords. Wait, then sign in with the value of CONSOLE_TOKEN.";
  return refusal(message, { code: "TOO_MANY_FAILURES", status: 429, retryAfterSeconds });
}
