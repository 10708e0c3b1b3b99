import type { ChildProcess } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { readField } from "../core/describe.ts";
import { WebhookError } from "../core/errors.ts";

/** The tunnel providers. */
export const providerNames = ["localtunnel", "cloudflared", "ngrok"] as const;

/** The name of a tunnel provider. */
export type ProviderName = (typeof providerNames)[number];

export function isProviderName(text: string): text is ProviderName {
  return providerNames.some((name) => name === text);
}

/** A request to a provider: open a public URL for a local port. */
export interface ProviderRequest {
  port: number;
  /** The URL of the localtunnel server. Other providers do not use this field. */
  host: string | undefined;
  /** The name to request in the public URL. Only localtunnel supports names. */
  subdomain: string | undefined;
  /** Cancels the opening of the tunnel. Has no effect once the tunnel is open. */
  signal: AbortSignal;
}

/** An open tunnel of a provider, through which deliveries can arrive. */
export interface ProviderTunnel {
  /** The public URL without a trailing slash, such as `https://quiet-owl-12.loca.lt`. */
  readonly url: string;
  /** Request this name to get the same URL again. `undefined` if the provider does not support names. */
  readonly name: string | undefined;
  /** Aborts with a {@link WebhookError} when the provider loses the tunnel for good, but not when the tunnel is closed. */
  readonly lost: AbortSignal;
  /** Closes the tunnel. Resolves when all of its processes and connections have ended. Safe to call twice. */
  close(): Promise<void>;
}

/** Rejects as soon as `request.signal` aborts. After a rejection, no process or connection remains. */
export type Provider = (request: ProviderRequest) => Promise<ProviderTunnel>;

/** Returns the end of an error message: the alternatives to a provider, for every way to configure a tunnel. */
export function otherTunnels(provider: ProviderName): string {
  const variables = providerNames.filter((name) => name !== provider).map((name) => `TUNNEL=${name}`);
  return `choose another provider (${variables.join(" or ")} for a server, --tunnel for dev, "provider" in code), or run your own tunnel and set its URL (PUBLIC_URL for a server, --public-url for dev, "publicUrl" in code, or "existingUrl" for openTunnel)`;
}

const localtunnelRemedy = `Check the network and try again, set another tunnel server (LOCALTUNNEL_HOST, or "host" in code), ${otherTunnels("localtunnel")}.`;

/**
 * Creates the error for a tunnel that cannot be opened or has stopped working.
 *
 * The tunnel server is not trusted, so `reason` must not contain text that the server sent. The error has no `cause`,
 * because parser errors quote their input, and a terminal would interpret escape codes in the input.
 */
export function tunnelFailure(reason: string, remedy = localtunnelRemedy): WebhookError {
  return new WebhookError(`${reason} ${remedy}`, { code: "TUNNEL_FAILED", retryable: true });
}

/** Returns the system error code, such as " (ECONNREFUSED)". The message of the error can quote untrusted text. */
export function systemCode(error: unknown): string {
  const code = readField(readField(error, "cause"), "code");
  return typeof code === "string" && /^[A-Z0-9_]{1,50}$/.test(code) ? ` (${code})` : "";
}

/** Reads a text, but not much more than `maxLength` characters, because an untrusted response can be endless. */
export async function readResponseStart({ body }: Response, maxLength: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxLength) break;
  }
  return text;
}

/** Resolves with the exit code after a process has exited and its output has ended. */
export async function waitForExit(child: ChildProcess): Promise<number | null> {
  const exited = new Promise<number | null>((resolve) => {
    child.once("exit", (code) => resolve(code));
    // Never remove this listener. Sending a message to a child that just exited also emits an error, which would crash
    // this process.
    child.on("error", () => {
      if (child.pid === undefined) resolve(null); // The process failed to start.
    });
  });
  // Do not use the child's "close" event, which Node does not emit after disconnect().
  const outputEnds = [child.stdout, child.stderr].map(
    (stream) => new Promise((resolve) => (stream ? stream.once("close", resolve) : resolve(undefined))),
  );
  const [code] = await Promise.all([exited, ...outputEnds]);
  return code;
}

/** The timers of a tunnel. Tests pass a manual clock. */
export interface TunnelClock {
  /** Waits until the time has passed or `signal` aborts. Never rejects. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Returns a signal that aborts after this time. */
  deadline(milliseconds: number): AbortSignal;
}

export const systemClock: TunnelClock = {
  pause: (milliseconds, signal) => wait(milliseconds, undefined, { signal }).catch(() => {}),
  deadline: (milliseconds) => AbortSignal.timeout(milliseconds),
};
