import { copyScript } from "./copy-script.ts";
import { styles } from "./styles.ts";

interface Asset {
  content: string;
  contentType: string;
}

/** The file name of the page's style sheet. */
export const stylesName = `styles-${contentHash(styles)}.css`;

/** The file name of the page's script. */
export const scriptName = `copy-${contentHash(copyScript)}.js`;

const assets: ReadonlyMap<string, Asset> = new Map([
  [stylesName, { content: styles, contentType: "text/css; charset=utf-8" }],
  [scriptName, { content: copyScript, contentType: "text/javascript; charset=utf-8" }],
]);

/** The asset of this file name, if there is one. */
export function findAsset(name: string): Asset | undefined {
  return assets.get(name);
}

/** FNV-1a, 32 bits: it only has to change with the content, and unlike `crypto.subtle` it answers at once. */
function contentHash(content: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < content.length; index++) {
    hash = Math.imul(hash ^ content.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}
