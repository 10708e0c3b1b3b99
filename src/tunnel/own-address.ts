import { optionError } from "../core/option-error.ts";
import { readBaseUrl } from "../core/urls.ts";
import type { ProviderTunnel } from "./provider.ts";

/**
 * Reads the address of a tunnel that somebody else runs: http(s), perhaps with a path, without a slash at its end.
 *
 * @throws `OPTION_INVALID` when it is none.
 */
export function readPublicUrl(address: string): string {
  const read = readBaseUrl(address);
  if (read !== undefined) return read;
  throw optionError(
    'Option "publicUrl" is not usable: give the http(s) address that leads to the port, such as https://hooks.example.com, without a user name, a query or a fragment.',
  );
}

/** A tunnel of which nothing is ours: it is there already, and it can only be watched. */
export function ownTunnel(url: string): ProviderTunnel {
  return { url, name: undefined, lost: new AbortController().signal, close: async () => {} };
}
