import { createProgramProvider } from "./program.ts";

/**
 * Opens a trycloudflare.com tunnel with the `cloudflared` program. The service requires no account and assigns random
 * names.
 */
export const openCloudflared = createProgramProvider({
  name: "cloudflared",
  installUrl: "https://developers.cloudflare.com/cloudflare-one/connections/connect-networks/downloads/",
  argumentsFor: (port) => ["tunnel", "--no-autoupdate", "--url", `http://127.0.0.1:${port}`],
  createLineParser() {
    let url: string | undefined;
    let isConnected = false;
    return (line) => {
      // Skip the API's URL, which error lines contain.
      url ??= /https:\/\/(?!api\.)[a-z0-9-]+\.trycloudflare\.com(?![\w.-])/.exec(line)?.[0];
      // Wait for the connection: the name is printed before it exists in DNS, and a resolver that is queried too early
      // caches the failure.
      isConnected ||= /\bregistered\b.*\bconnIndex=/i.test(line);
      if (isConnected) return { url };
      return { hint: url === undefined ? findHint(line) : notConnected };
    };
  },
});

const notConnected =
  "The tunnel has a name but is not connected to Cloudflare yet. Check that no firewall blocks port 7844.";

function findHint(line: string): string | undefined {
  if (/429 Too Many Requests|error code: 1015/.test(line)) {
    return "trycloudflare.com rejected the tunnel because of too many requests (429). Wait a few minutes.";
  }
  if (/failed to request quick Tunnel/i.test(line)) {
    return "trycloudflare.com did not provide a tunnel. The service may be down or unreachable.";
  }
  return undefined;
}
