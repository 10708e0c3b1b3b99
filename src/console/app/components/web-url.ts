/** Whether a URL is safe to link to. */
export function isWebUrl(url: string): boolean {
  return /^https?:\/\//i.test(url);
}

/** Whether a URL is on this machine. */
export function isLoopbackUrl(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$|(^|\.)localhost$/.test(hostname);
}
