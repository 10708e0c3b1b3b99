import { isLoopbackHost } from "../core/loopback.ts";
import { optionError } from "../core/option-error.ts";
import { readBaseUrl } from "../core/urls.ts";

/**
 * Validates the public address of a server and returns it without a trailing slash.
 *
 * @throws `OPTION_INVALID` if it is not an http(s) address with at most a host and a path, or if a Hub on another machine
 * could not reach it.
 */
export function validatePublicUrl(publicUrl: string, { hubUrl }: { hubUrl: string }): string {
  const url = readBaseUrl(publicUrl);
  if (url === undefined) {
    throw optionError(
      "The public address of the server (--public-url, publicUrl in code) is invalid. Use an http or https address without user name, password, query and fragment, such as https://me-bot.hf.space.",
    );
  }
  const { origin, hostname } = new URL(url);
  if (isLoopbackHost(hostname) && !isLoopbackHost(new URL(hubUrl).hostname)) {
    throw optionError(
      `The Hub at ${hubUrl} cannot reach ${origin}, which is only reachable from this machine. Set the public address of the server, or use hub-webhooks dev, which opens a tunnel.`,
    );
  }
  return url;
}

/**
 * Validates that a secret can be sent as an HTTP header.
 *
 * @throws `OPTION_INVALID`, without the secret in its message.
 */
export function validateSecret(secret: string | undefined): string | undefined {
  if (secret === undefined || /^[!-~]([ -~]*[!-~])?$/.test(secret)) return secret;
  throw optionError(
    "The secret cannot be sent as an HTTP header. Use printable ASCII characters without leading or trailing white space, for both the webhooks and the server.",
  );
}
