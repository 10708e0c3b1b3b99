import type { LandingInfo } from "./info.ts";

/**
 * Returns the URL of another page of the server or of an asset. The URL is relative if no prefix is known, because a proxy
 * may remove a prefix.
 */
export function pageAddress({ basePath }: Pick<LandingInfo, "basePath">, path: string): string {
  return basePath === "" ? path : `${basePath}/${path}`;
}
