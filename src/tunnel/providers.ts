import { openCloudflared } from "./cloudflared.ts";
import { openLocaltunnel } from "./localtunnel.ts";
import { openNgrok } from "./ngrok.ts";
import type { Provider } from "./provider.ts";

/** Who can carry a tunnel, and how long each may take to open one when nobody says otherwise. */
export const providers = {
  localtunnel: { open: openLocaltunnel, timeout: "15s" },
  // It chooses a name that no resolver knows yet.
  cloudflared: { open: openCloudflared, timeout: "30s" },
  ngrok: { open: openNgrok, timeout: "15s" },
} as const satisfies Record<string, { open: Provider; timeout: string }>;

/** Who carries a tunnel. */
export type ProviderName = keyof typeof providers;
