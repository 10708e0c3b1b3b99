import { providerOf } from "./program.ts";

/** Opens a tunnel of trycloudflare.com with the program `cloudflared`. It takes no account and chooses the name. */
export const openCloudflared = providerOf({
  name: "cloudflared",
  installation: "https://developers.cloudflare.com/cloudflare-one/connections/connect-networks/downloads/",
  argumentsFor: (port) => ["tunnel", "--no-autoupdate", "--url", `http://127.0.0.1:${port}`],
  createReader() {
    let url: string | undefined;
    return (line) => {
      // Its errors name the service's own address.
      url ??= /https:\/\/(?!api\.)[a-z0-9-]+\.trycloudflare\.com(?![\w.-])/.exec(line)?.[0];
      // The name is printed before it exists. A resolver that was asked too early would deny it for a long time.
      if (/\bregistered\b.*\bconnIndex=/i.test(line)) return { url };
      return { hint: url === undefined ? hintIn(line) : notConnected };
    };
  },
});

const notConnected = "It has a name, but no connection to Cloudflare yet: a firewall may block its port 7844.";

function hintIn(line: string): string | undefined {
  if (/429 Too Many Requests|error code: 1015/.test(line)) {
    return "trycloudflare.com says that too many tunnels were asked for (429): wait for some minutes.";
  }
  if (/failed to request quick Tunnel/i.test(line)) {
    return "It got no tunnel from trycloudflare.com, which may be down or out of reach.";
  }
  return undefined;
}
