import { isLoopbackHost } from "../core/loopback.ts";
import { optionError } from "../core/option-error.ts";
import { readBaseUrl } from "../core/urls.ts";

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
