import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import { isLoopbackAddress } from "../../core/loopback.ts";

/** `lookup` of `node:dns`, or what does the same. */
export type Lookup = (
  hostname: string,
  options: LookupOptions,
  callback: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
) => void;

/**
 * Makes a lookup, for a connection, that fails where any address is not loopback: a name that was checked before could
 * by now stand for another address (DNS rebinding).
 */
export function loopbackOnly(lookupAny: Lookup = lookup): Lookup {
  return (hostname, options, callback) => {
    lookupAny(hostname, options, (error, address, family) => {
      const addresses = typeof address === "string" ? [address] : address?.map((found) => found.address);
      const stranger = error ? undefined : addresses.find((found) => !isLoopbackAddress(found));
      callback(stranger === undefined ? error : new Error(remoteTarget(hostname)), address, family);
    });
  };
}

/** What is said of a target that is not on this machine. */
export function remoteTarget(host: string): string {
  return `${host} is not this machine: start the local Hub with --allow-remote (LocalHub.launch({ allowRemote: true })) to deliver there`;
}
