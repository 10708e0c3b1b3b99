import { isLoopbackHost } from "../core/loopback.ts";
import { optionError } from "../core/option-error.ts";
import { readBaseUrl } from "../core/urls.ts";

/**
 * Reads the public address of a server, without a trailing slash.
 *
 * @throws `OPTION_INVALID` when it is no http(s) address, holds more than a host and a path, or when the Hub is elsewhere
 * and the address leads to this machine alone.
 */
export function checkBaseUrl(baseUrl: string, { hub }: { hub: string }): string {
  const read = readBaseUrl(baseUrl);
  if (read === undefined) {
    throw optionError(
      "The public address of the server (--base-url, baseUrl in code) is not usable: give an http or https address without user name, password, query and fragment, such as https://me-bot.hf.space.",
    );
  }
  const { origin, hostname } = new URL(read);
  if (isLoopbackHost(hostname) && !isLoopbackHost(new URL(hub).hostname)) {
    throw optionError(
      `The Hub at ${hub} cannot reach ${origin}, which is this machine and nothing else: give the public address of the server, or use hub-webhooks dev, which opens a tunnel.`,
    );
  }
  return read;
}

/**
 * Checks that a delivery can carry the secret.
 *
 * @throws `OPTION_INVALID`, which does not show it.
 */
export function checkSecret(secret: string | undefined): string | undefined {
  if (secret === undefined || /^[!-~]([ -~]*[!-~])?$/.test(secret)) return secret;
  throw optionError(
    "The secret cannot be carried by HTTP: give printable ASCII characters, without white space at its ends, here and to the server.",
  );
}
