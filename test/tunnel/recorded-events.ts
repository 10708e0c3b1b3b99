import type { Tunnel } from "../../src/tunnel/tunnel.ts";

/** Records every event of a tunnel: errors with code and message, the others with their values. */
export function recordEvents(tunnel: Tunnel): string[] {
  const heard: string[] = [];
  tunnel.on("error", ({ code, message }) => heard.push(`error ${code}: ${message}`));
  tunnel.on("down", ({ code }) => heard.push(`down ${code}`));
  tunnel.on("urlChanged", (url) => heard.push(`urlChanged ${url}`));
  tunnel.on("up", () => heard.push("up"));
  return heard;
}
