import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import { BlockList, isIP } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether an IP address is one of this machine's own that nobody else reaches. */
export function isLoopbackAddress(address: string): boolean {
  return loopback.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** Whether a host, as a URL or a Host header names it (without the port), is this machine and nobody else. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, "").toLowerCase();
  return isIP(name) ? isLoopbackAddress(name) : name === "localhost" || name.endsWith(".localhost");
}

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
  return `${host} is not this machine: start the local Hub with --allow-remote (LocalHub.start({ allowRemote: true })) to deliver there`;
}
