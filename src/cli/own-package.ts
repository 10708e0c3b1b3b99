import { readFileSync } from "node:fs";
import { packageRoot } from "../core/package-files.ts";

/** The version that package.json states. */
export function readVersion(): string {
  const { version }: { version: string } = JSON.parse(readFileSync(new URL("package.json", packageRoot), "utf8"));
  return version;
}

/** Where a template of this package lies: its folder, as a URL with a slash at the end. */
export function templateFolder(name: string): URL {
  return new URL(`templates/${name}/`, packageRoot);
}

/** Where an example of this package lies: its folder, as a URL with a slash at the end. */
export function exampleFolder(name: string): URL {
  return new URL(`examples/${name}/`, packageRoot);
}
