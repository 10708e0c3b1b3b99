import type { LandingInfo } from "./info.ts";

/**
 * The address of another page of the server, or of an asset. Relative where no prefix is known: a proxy may remove one
 * without a word.
 */
export function pageAddress({ basePath }: Pick<LandingInfo, "basePath">, path: string): string {
  return basePath === "" ? path : `${basePath}/${path}`;
}
