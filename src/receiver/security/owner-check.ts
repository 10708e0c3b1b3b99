import type { Context } from "hono";
import { readEnvironment } from "../../core/environment.ts";
import { WebhookError } from "../../core/errors.ts";
import { equalInConstantTime, GuessLimiter } from "../../core/guess-limiter.ts";
import type { Logger } from "../../core/logger.ts";
import { errorAnswer, toResponse } from "../../http/answer.ts";
import { isPubliclyReachable } from "./public-access.ts";

export interface OwnerCheckOptions {
  /** The owner's password. Default `CONSOLE_TOKEN`. An empty password counts as unset. */
  token: string | undefined;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Logs wrong tokens. */
  refusalLog: Logger;
  /**
   * Whether the pages have a public URL. If they do, a request without a token is never treated as local, because a
   * proxy that adds no headers may have forwarded it. Default: {@link isPubliclyReachable} without launch options.
   */
  isPublic?: () => boolean;
}

interface OwnerPage {
  /** Whether only browsers request the page. Default `false`. */
  isForBrowsers?: boolean;
}

/**
 * Checks whether a request comes from the owner, who may read payloads. The owner sends the console token as the password
 * of HTTP Basic authentication. If no token is set, requests from this machine count as requests of the owner.
 *
 * @example
 * ```ts
 * const owner = new OwnerCheck({ token: undefined, now: Date.now, refusalLog: logger });
 * app.get("/metrics", (context) => owner.refuse(context) ?? context.text(metrics()));
 * ```
 */
export class OwnerCheck {
  readonly #options: OwnerCheckOptions;
  readonly #guesses: GuessLimiter;

  constructor(options: OwnerCheckOptions) {
    this.#options = options;
    this.#guesses = new GuessLimiter(options.now);
  }

  /** The token in the options or in the environment. */
  get token(): string | undefined {
    return this.#configuredToken(undefined);
  }

  /** Whether a token is set. An edge worker passes its `bindings` with each request. */
  hasToken(bindings?: unknown): boolean {
    return this.#configuredToken(bindings) !== undefined;
  }

  /** Whether every request is refused, because the server is public and no token identifies the owner. */
  isClosed(bindings?: unknown): boolean {
    return !this.hasToken(bindings) && this.#isPublic();
  }

  /**
   * Returns the error response for a client that is not the owner: 401, 403, or 429 after too many wrong tokens. Returns
   * `undefined` for the owner.
   */
  refuse(context: Context, page: OwnerPage = {}): Response | undefined {
    const token = this.#configuredToken(context.env);
    if (token === undefined) {
      const isOwner = !this.#isPublic() && isAtThisMachine(context, page);
      return isOwner ? undefined : toResponse(errorAnswer(tokenNotSet()));
    }
    const password = passwordOf(context.req.raw);
    if (password === undefined) return challenge("CONSOLE_TOKEN_MISSING");
    if (equalInConstantTime(password, token.toWellFormed())) return undefined;
    const waitSeconds = this.#guesses.countWrong();
    const code = waitSeconds === undefined ? "CONSOLE_TOKEN_INVALID" : "TOO_MANY_FAILURES";
    const response =
      waitSeconds === undefined
        ? challenge("CONSOLE_TOKEN_INVALID")
        : toResponse(errorAnswer(tooManyFailures(waitSeconds)));
    const fields = { path: context.req.path, code, status: response.status };
    this.#options.refusalLog.warn(fields, "sign-in refused: wrong CONSOLE_TOKEN");
    return response;
  }

  #isPublic(): boolean {
    const { isPublic = isPubliclyReachable } = this.#options;
    return isPublic();
  }

  #configuredToken(bindings: unknown): string | undefined {
    const bound = property(bindings, "CONSOLE_TOKEN");
    const token = this.#options.token ?? (typeof bound === "string" ? bound : readEnvironment("CONSOLE_TOKEN"));
    return token === "" ? undefined : token;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads the password of HTTP Basic authentication, in UTF-8. Returns `undefined` if the request has no password. */
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
function isAtThisMachine(context: Context, { isForBrowsers = false }: OwnerPage): boolean {
  const incoming = property(context.env, "incoming");
  const address = property(property(incoming, "socket"), "remoteAddress");
  if (typeof address !== "string" || !/^(?:(?:::ffff:)?127(?:\.\d{1,3}){3}|::1)$/i.test(address)) return false;
  // By default, nginx adds no header. nginx up to 1.29.6 sends HTTP/1.0, which browsers never send.
  if (property(incoming, "httpVersion") === "1.0") return false;
  const { headers } = context.req.raw;
  // Later versions of nginx send HTTP/1.1 without this header, which every browser sends.
  if (isForBrowsers && !/\bkeep-alive\b/i.test(headers.get("connection") ?? "")) return false;
  if (!/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(headers.get("host") ?? "")) return false;
  return ![...headers.keys()].some((name) => /^(?:forwarded|via|x-real-ip|x-forwarded-.*)$/i.test(name));
}

/** Reads a field of any value. On Node, the bindings contain a socket; on edge workers, the bindings are settings. */
function property(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function challenge(code: "CONSOLE_TOKEN_MISSING" | "CONSOLE_TOKEN_INVALID"): Response {
  const message =
    code === "CONSOLE_TOKEN_MISSING"
      ? "Sign in with any username and the value of CONSOLE_TOKEN as the password."
      : "The password is invalid. Sign in with any username and the value of CONSOLE_TOKEN as the password.";
  const response = toResponse(errorAnswer(new WebhookError(message, { code, status: 401 })));
  response.headers.set("www-authenticate", 'Basic realm="hub-webhooks", charset="UTF-8"');
  return response;
}

function tokenNotSet(): WebhookError {
  return new WebhookError(
    "Only the owner can open this page. Set CONSOLE_TOKEN (in a Space: Settings, Variables and secrets), restart the server, and sign in with its value as the password. Without CONSOLE_TOKEN, only a browser on the same machine can open the page, and only if the server has no public URL (PUBLIC_URL).",
    { code: "OWNER_ONLY", status: 403 },
  );
}

function tooManyFailures(retryAfterSeconds: number): WebhookError {
  return new WebhookError("Too many wrong passwords. Wait, then sign in with the value of CONSOLE_TOKEN.", {
    code: "TOO_MANY_FAILURES",
    status: 429,
    retryAfterSeconds,
  });
}
