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
