import { BlockList, isIP } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether an IP address is a loopback address, to which only this machine can connect. */
export function isLoopbackAddress(address: string): boolean {
  return loopback.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** Whether the host of a URL or `Host` header, without the port, is a loopback address or `localhost`. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, "").toLowerCase();
  return isIP(name) ? isLoopbackAddress(name) : name === "localhost" || name.endsWith(".localhost");
}
