import { readFileSync } from "node:fs";

/** The root of this package: two folders above, in the sources and in the build. */
const root = new URL("../../", import.meta.url);

/** The version that package.json states. */
export function readVersion(): string {
  const { version }: { version: string } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
  return version;
}

/** Where a template of this package lies: its folder, as a URL with a slash at the end. */
export function templateFolder(name: string): URL {
  return new URL(`templates/${name}/`, root);
}

/** Where an example of this package lies: its folder, as a URL with a slash at the end. */
export function exampleFolder(name: string): URL {
  return new URL(`examples/${name}/`, root);
}
