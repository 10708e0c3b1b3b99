import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { LandingInfo } from "../../../src/receiver/landing/info.ts";
import { landingAsset, landingPage } from "../../../src/receiver/landing/landing-page.ts";
import { fullInfo, hostileInfo, sampleEndpoint, sampleHours, sampleInfo } from "./sample-info.ts";

const scenes: Readonly<Record<string, LandingInfo>> = {
  full: fullInfo,
  single: sampleInfo(),
  empty: sampleInfo({ endpoints: [], secretIsSet: false }),
  hostile: hostileInfo,
  young: sampleInfo({
    endpoints: [sampleEndpoint({ deliveries: 3, lastDay: 3 })],
    activity: { hours: sampleHours(2, () => ({ succeeded: 1, retrying: 1 })), queue: "unknown" },
  }),
};

/** Answers as a receiver would; `?scene=` names the one that it is. */
export function answer(url: URL): Response {
  if (url.pathname.startsWith("/_landing/")) {
    return landingAsset(url.pathname.slice("/_landing/".length)) ?? new Response("", { status: 404 });
  }
  const theme = url.searchParams.get("__theme");
  const scene = scenes[url.searchParams.get("scene") ?? "full"] ?? fullInfo;
  return landingPage({ ...scene, ...((theme === "light" || theme === "dark") && { theme }) });
}

/** Serves the pages on a free port of this machine. */
export async function servePages(): Promise<{ origin: string; close: () => void }> {
  const server = createServer(async (request, response) => {
    const page = answer(new URL(request.url ?? "/", "http://localhost"));
    response.writeHead(page.status, Object.fromEntries(page.headers)).end(await page.text());
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
