import { isLoopbackHost } from "../core/loopback.ts";
import { optionError } from "../core/options.ts";
import { readBaseUrl } from "../core/urls.ts";

/** The options of `register`. */
export interface RegisterOptions {
  /**
   * The public URL of the server, such as `https://me-bot.hf.space`. The webhooks point to `/webhooks/…` below this
   * URL.
   */
  publicUrl: string;
  /**
   * The path of the file that records the managed webhooks. Keep this file between runs, and use a separate file for
   * each server. Default `.hub-webhooks/registrations.json` in the working directory.
   */
  state?: string | undefined;
  /**
   * The secret of the webhooks. Default: the first secret of the server. Without a secret, new webhooks have no secret,
   * so anyone who knows the URL of an endpoint can send requests to the endpoint. Existing webhooks keep their secrets.
   */
  secret?: string | undefined;
  /** Removes existing secrets. Cannot be combined with `secret`. Default `false`. */
  removeSecret?: boolean | undefined;
  /** Reports the steps without executing them, including the steps that are known to fail. Default `false`. */
  dryRun?: boolean | undefined;
  /** Deletes managed webhooks whose endpoint no longer exists. By default, these webhooks are reported as skipped. */
  prune?: boolean | undefined;
  /**
   * Adopts webhooks that deliver to one of the endpoints but were created elsewhere. By default, these webhooks are
   * reported as skipped.
   */
  adopt?: boolean | undefined;
  /** Cancels the registration between two steps or during a request to the Hub. */
  signal?: AbortSignal | undefined;
}

/**
 * Validates the public URL of a server, and returns the URL without a trailing slash.
 *
 * @throws `OPTION_INVALID` if the URL is not an http or https URL with only a host and a path, or if the URL is not
 * reachable for a Hub on another machine.
 */
export function validatePublicUrl(publicUrl: string, { hubUrl }: { hubUrl: string }): string {
  const url = readBaseUrl(publicUrl);
  if (url === undefined) {
    throw optionError(
      "The public URL of the server (--public-url, publicUrl in code) is invalid. Use an http or https URL without a username, password, query, or fragment, such as https://me-bot.hf.space.",
    );
  }
  const { origin, hostname } = new URL(url);
  if (isLoopbackHost(hostname) && !isLoopbackHost(new URL(hubUrl).hostname)) {
    throw optionError(
      `The Hub at ${hubUrl} cannot reach ${origin}, which is only reachable from this machine. Set the public URL of the server, or use hub-webhooks dev, which opens a tunnel.`,
    );
  }
  return url;
}

/**
 * Checks that a secret is valid in an HTTP header, and returns the secret.
 *
 * @throws `OPTION_INVALID`. The message does not contain the secret.
 */
export function validateSecret(secret: string | undefined): string | undefined {
  if (secret === undefined || /^[!-~]([ -~]*[!-~])?$/.test(secret)) return secret;
  throw optionError(
    "The secret is not valid in an HTTP header. Use printable ASCII characters without leading or trailing whitespace, for both the webhooks and the server.",
  );
}
