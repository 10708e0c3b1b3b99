/** The tunnel providers. */
export const providerNames = ["localtunnel", "cloudflared", "ngrok"] as const;

/** The name of a tunnel provider. */
export type ProviderName = (typeof providerNames)[number];

/** Whether a text is the name of a provider. */
export function isProviderName(text: string): text is ProviderName {
  return providerNames.some((name) => name === text);
}
