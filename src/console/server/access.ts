import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import { WebhookError } from "../../core/errors.ts";
import { equalInConstantTime, PasswordGuesses } from "../../core/guesses.ts";
import { isCrossSite } from "../../http/answer.ts";
import type { SignInRequest } from "../protocol/session.ts";

interface ConsoleAccessOptions {
  /** The console token. `undefined`: only one-time links sign in. */
  token: string | undefined;
  now: () => number;
  /** The wrong tokens and codes. By default, those of this console. */
  guesses?: PasswordGuesses | undefined;
  /** Called after a one-time link was used, for example to print a new one. */
  onLinkUsed?: (() => void) | undefined;
  /** Called for each refused sign-in and change, for the log. */
  onRefused?: ((refusal: { code: string; status: number }) => void) | undefined;
}

/** A request that was signed in with the `Authorization` header. It needs no CSRF token, because browsers do not add the header. */
const bearerSession: Session = { csrfToken: "", onSignOut: () => () => {}, hasExpired: () => false };

/**
 * Checks whether a client may open the console. The address of a client never counts: behind a proxy or a tunnel, every request comes from
 * this machine.
 */
export class ConsoleAccess {
  readonly links: SignInLinks;
  readonly #options: ConsoleAccessOptions;
  readonly #guesses: PasswordGuesses;
  readonly #sessions: SessionTokens;

  constructor(options: ConsoleAccessOptions) {
    this.#options = options;
    this.links = new SignInLinks(options.now);
    this.#guesses = options.guesses ?? new PasswordGuesses(options.now);
    this.#sessions = new SessionTokens({ secret: options.token, now: options.now });
  }

  get hasToken(): boolean {
    return this.#options.token !== undefined;
  }

  /**
   * Returns the session of a request, or `undefined` if the client is not signed in. Programs can send the console token as
   * `Authorization: Bearer` instead of a cookie.
   *
   * @throws `SIGN_IN_INVALID` (401) or `TOO_MANY_FAILURES` (429) for a wrong token in the header.
   */
  async sessionOf(context: Context): Promise<Session | undefined> {
    const bearer = /^Bearer +(\S+) *$/i.exec(context.req.header("authorization") ?? "")?.[1];
    if (bearer !== undefined) {
      await this.#checkToken(bearer);
      return bearerSession;
    }
    const cookie = await this.#sentCookie(context);
    return cookie === undefined ? undefined : this.#sessions.verify(cookie);
  }

  /**
   * Checks a request that changes something.
   *
   * @throws `CROSS_SITE_REFUSED`, `CSRF_TOKEN_INVALID` (403), `MEDIA_TYPE_UNSUPPORTED` (415).
   */
  checkChange(context: Context, session: Session): void {
    this.#checkOrigin(context);
    if (session === bearerSession) return;
    const sent = context.req.header("x-csrf-token") ?? "";
    if (!equalInConstantTime(sent, session.csrfToken)) throw this.#refused(csrfTokenInvalid());
  }

  /**
   * Signs in. Returns the value of `Set-Cookie`.
   *
   * @throws `SIGN_IN_INVALID` (401), `TOO_MANY_FAILURES` (429), `CROSS_SITE_REFUSED` (403), `MEDIA_TYPE_UNSUPPORTED` (415).
   */
  async signIn(context: Context, request: SignInRequest): Promise<{ session: Session; cookie: string }> {
    this.#checkOrigin(context);
    if ("code" in request) this.#useLink(request.code);
    else await this.#checkToken(request.token);
    const value = await this.#sessions.create();
    const session = await this.#sessions.verify(value);
    if (!session) throw signInInvalid();
    return { session, cookie: await this.#cookie(context, { value, maxAgeSeconds: sessionMs / 1_000 }) };
  }

  /** Signs out: the session is no longer valid in this process, and its streams end. Returns the value of `Set-Cookie`. */
  async signOut(context: Context): Promise<string> {
    const cookie = await this.#sentCookie(context);
    if (cookie !== undefined) await this.#sessions.revoke(cookie);
    return this.#cookie(context, { value: "", maxAgeSeconds: 0 });
  }

  async #checkToken(text: string): Promise<void> {
    const { token } = this.#options;
    const checked = await this.#guesses.check(
      () => token !== undefined && equalInConstantTime(text.toWellFormed(), token.toWellFormed()),
    );
    if (checked !== "right") throw this.#wrongSignIn(checked);
  }

  /** Uses a one-time link. Its code cannot be guessed, so guesses of the token do not delay it. */
  #useLink(code: string): void {
    if (!this.links.use(code)) throw this.#wrongSignIn(this.#guesses.countWrong());
    this.#options.onLinkUsed?.();
  }

  #wrongSignIn(checked: "wrong" | number): WebhookError {
    return this.#refused(checked === "wrong" ? signInInvalid() : tooManyFailures(checked));
  }

  #checkOrigin(context: Context): void {
    const header = (name: string) => context.req.raw.headers.get(name);
    if (isCrossSite({ url: context.req.url, header })) throw this.#refused(crossSiteRefused());
    // Pages of other sites can send forms and plain text without a preflight request, but not JSON.
    if (/^application\/json\s*(;|$)/i.test(header("content-type") ?? "")) return;
    throw this.#refused(mediaTypeUnsupported());
  }

  #refused(error: WebhookError): WebhookError {
    this.#options.onRefused?.({ code: error.code, status: error.status ?? 401 });
    return error;
  }

  async #sentCookie(context: Context): Promise<string | undefined> {
    return getCookie(context, await this.#cookieName(context));
  }

  async #cookie(context: Context, { value, maxAgeSeconds }: { value: string; maxAgeSeconds: number }): Promise<string> {
    const name = await this.#cookieName(context);
    // The path is not limited to the console, because a proxy may add a prefix that this server does not see.
    return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${isSecure(context) ? "; Secure" : ""}`;
  }

  /** With the prefix `__Host-`, browsers accept the cookie only over HTTPS, and from no other host of the domain. */
  async #cookieName(context: Context): Promise<string> {
    return `${isSecure(context) ? "__Host-" : ""}${await this.#sessions.cookieName()}`;
  }
}

/**
 * Whether the browser uses HTTPS. A proxy that ends TLS forwards plain HTTP. A forged header only makes the browser of its sender drop
 * the cookie. Each proxy appends a value, so the first one is that of the browser's connection.
 */
function isSecure({ req }: Context): boolean {
  return req.url.startsWith("https:") || /^\s*https\s*(?:,|$)/i.test(req.header("x-forwarded-proto") ?? "");
}

export function signInRequired(): WebhookError {
  return new WebhookError("Only the owner can open the console. Sign in first.", {
    code: "SIGN_IN_REQUIRED",
    status: 401,
  });
}

function signInInvalid(): WebhookError {
  return new WebhookError(
    "The console token is wrong, or the link was already used or has expired. Check CONSOLE_TOKEN, or get a new link.",
    { code: "SIGN_IN_INVALID", status: 401 },
  );
}

function tooManyFailures(retryAfterSeconds: number): WebhookError {
  return new WebhookError(`Too many failed attempts to sign in. Try again in ${retryAfterSeconds} s.`, {
    code: "TOO_MANY_FAILURES",
    status: 429,
    retryAfterSeconds,
  });
}

function csrfTokenInvalid(): WebhookError {
  return new WebhookError("The request has no valid X-CSRF-Token header. Reload the console, and try again.", {
    code: "CSRF_TOKEN_INVALID",
    status: 403,
  });
}

function crossSiteRefused(): WebhookError {
  return new WebhookError("A page of another site sent this request. Open the console itself, and try again.", {
    code: "CROSS_SITE_REFUSED",
    status: 403,
  });
}

function mediaTypeUnsupported(): WebhookError {
  return new WebhookError('The Content-Type of the request is not JSON. Set it to "application/json".', {
    code: "MEDIA_TYPE_UNSUPPORTED",
    status: 415,
  });
}

/** How long a link is valid. A link in a log must not open the console weeks later. */
const linkMs = 3_600_000;
const maxLinks = 20;

/** Creates the codes of one-time sign-in links. A code is valid once, for one hour. */
export class SignInLinks {
  readonly #now: () => number;
  /** The codes that are not used yet, and the times at which they expire. Oldest first. */
  readonly #expiries = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Creates a link to a console.
   *
   * The code is in the fragment, which browsers do not send: it appears in no log of a server or proxy, and a program that
   * prefetches links does not use it up.
   *
   * @param consoleUrl the URL of the console, with a trailing slash.
   */
  create(consoleUrl: string): string {
    const code = crypto.randomUUID().replaceAll("-", "");
    this.#expiries.set(code, this.#now() + linkMs);
    for (const oldest of this.#expiries.keys()) {
      if (this.#expiries.size <= maxLinks) break;
      this.#expiries.delete(oldest);
    }
    return `${consoleUrl}#/sign-in/${code}`;
  }

  /** Uses a code. Returns whether it was valid. The code has 122 random bits, so comparing it reveals nothing useful. */
  use(code: string): boolean {
    const expiresAt = this.#expiries.get(code);
    if (expiresAt === undefined) return false;
    this.#expiries.delete(code);
    return expiresAt > this.#now();
  }
}

const sessionMs = 7 * 24 * 3_600_000;

const encoder = new TextEncoder();

export interface Session {
  /** The value of the `X-CSRF-Token` header for changes in this session. */
  readonly csrfToken: string;
  /**
   * Calls `listener` when this process signs the session out, or at once if it already did. Returns a function that removes the
   * listener.
   */
  readonly onSignOut: (listener: () => void) => () => void;
  /** Whether the session has expired since the request. */
  readonly hasExpired: () => boolean;
}

/**
 * Creates and checks the values of session cookies: `<expiry>.<random>.<signature>`. Sessions are signed rather than stored, so
 * that they survive a restart of a server with a console token, and are valid on each of its replicas. A session that was signed
 * out is only invalid in this process, until it restarts. Changing the console token ends all sessions.
 */
export class SessionTokens {
  readonly #key: Promise<CryptoKey>;
  readonly #now: () => number;
  readonly #revoked: RevokedSessions;

  /**
   * @param options `secret`: signs the sessions. By default, a random secret of this object. `now`: milliseconds since the epoch.
   */
  constructor({ secret, now }: { secret: string | undefined; now: () => number }) {
    this.#now = now;
    this.#revoked = new RevokedSessions({ now });
    const bytes = secret === undefined ? crypto.getRandomValues(new Uint8Array(32)) : encoder.encode(secret);
    this.#key = crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
  }

  /**
   * The name of the cookie. Two servers on this machine share their cookies, because browsers ignore the port. The name
   * depends on the secret, so that signing in to one server does not sign out of the other.
   */
  async cookieName(): Promise<string> {
    return `hub_webhooks_${(await this.#sign("cookie name")).slice(0, 12)}`;
  }

  /** Creates the value of a cookie. */
  async create(): Promise<string> {
    const expiresAt = (this.#now() + sessionMs).toString(36);
    const content = `${expiresAt}.${toHex(crypto.getRandomValues(new Uint8Array(16)))}`;
    return `${content}.${await this.#sign(`session ${content}`)}`;
  }

  /** Returns the session of a cookie, or `undefined` if the value is forged, has expired, or was revoked. */
  async verify(value: string): Promise<Session | undefined> {
    const read = await this.#read(value);
    if (!read) return undefined;
    return {
      csrfToken: await this.#sign(`csrf ${read.content}`),
      onSignOut: (listener) => this.#revoked.watch(read.content, listener),
      hasExpired: () => read.expiresAt <= this.#now(),
    };
  }

  /** Makes the session of a cookie invalid in this process. */
  async revoke(value: string): Promise<void> {
    const read = await this.#read(value);
    if (read) this.#revoked.add(read.content, read.expiresAt);
  }

  /** Returns the content and the expiry of a valid session. The expiry is in milliseconds since the epoch. */
  async #read(value: string): Promise<{ content: string; expiresAt: number } | undefined> {
    const [expiry = "", random = "", signature = "", rest] = value.split(".");
    const content = `${expiry}.${random}`;
    if (rest !== undefined || !/^[\da-f]{64}$/.test(signature)) return undefined;
    const bytes = Uint8Array.from(signature.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
    const isValid = await crypto.subtle.verify("HMAC", await this.#key, bytes, encoder.encode(`session ${content}`));
    const expiresAt = Number.parseInt(expiry, 36);
    if (!isValid || expiresAt <= this.#now() || this.#revoked.has(content)) return undefined;
    return { content, expiresAt };
  }

  async #sign(text: string): Promise<string> {
    return toHex(new Uint8Array(await crypto.subtle.sign("HMAC", await this.#key, encoder.encode(text))));
  }
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The sessions that were signed out in this process and have not expired. */
export class RevokedSessions {
  readonly #now: () => number;
  readonly #maxSessions: number;
  /** When each session expires, in milliseconds since the epoch, by ID. Signed out first is first. */
  readonly #expiries = new Map<string, number>();
  /** The listeners of open streams, by ID of their session. */
  readonly #listeners = new Map<string, Set<() => void>>();

  /** With more than `maxSessions`, the oldest ones become valid again. Only clients that are signed in can add one. */
  constructor({ now, maxSessions = 10_000 }: { now: () => number; maxSessions?: number }) {
    this.#now = now;
    this.#maxSessions = maxSessions;
  }

  add(id: string, expiresAt: number): void {
    const now = this.#now();
    for (const [known, expiry] of this.#expiries) if (expiry <= now) this.#expiries.delete(known);
    this.#expiries.set(id, expiresAt);
    for (const oldest of this.#expiries.keys()) {
      if (this.#expiries.size <= this.#maxSessions) break;
      this.#expiries.delete(oldest);
    }
    for (const listener of this.#listeners.get(id) ?? []) listener();
  }

  has(id: string): boolean {
    return this.#expiries.has(id);
  }

  /** Calls `listener` when the session is added, or at once if it was added before. Returns a function that removes the listener. */
  watch(id: string, listener: () => void): () => void {
    if (this.has(id)) listener();
    const listeners = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(id);
    };
  }
}
