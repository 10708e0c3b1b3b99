type AssetName = `${string}.css` | `${string}.js`;

/** The assets of a page. Their URLs change with their content. */
export interface PageAssets<Name extends AssetName> {
  /** Returns the file name in the URL: for `styles.css`, for example `styles-0a1b2c3d.css`. */
  nameOf: (file: Name) => string;
  /** Returns the response for that file name, which browsers may cache without a limit, or `undefined` for an unknown name. */
  answer: (name: string) => Response | undefined;
}

/**
 * Adds a hash of the content to the names of a page's style sheet and script.
 *
 * @example
 * ```ts
 * const assets = hashAssets({ "styles.css": styles, "page.js": script });
 * assets.nameOf("page.js"); // page-93d1f0aa.js
 * ```
 */
export function hashAssets<const Name extends AssetName>(contents: Readonly<Record<Name, string>>): PageAssets<Name> {
  const contentByName = new Map<string, string>();
  const nameOf = (file: Name) => file.replace(".", `-${contentHash(contents[file])}.`);
  for (const file of Object.keys(contents) as Name[]) contentByName.set(nameOf(file), contents[file]);
  return {
    nameOf,
    answer: (name) => {
      const content = contentByName.get(name);
      if (content === undefined) return undefined;
      return new Response(content, {
        headers: {
          "Content-Type": name.endsWith(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8",
          "X-Content-Type-Options": "nosniff",
          "Cache-Control": "public, max-age=31536000, immutable",
        },
      });
    },
  };
}

/** FNV-1a with 32 bits. The hash only detects changes, and unlike `crypto.subtle` it is synchronous. */
function contentHash(content: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < content.length; index++) {
    hash = Math.imul(hash ^ content.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}
