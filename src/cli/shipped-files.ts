import { readFileSync } from "node:fs";
import { packageRoot } from "../core/package-root.ts";

/** The version in package.json. */
export function readVersion(): string {
  const { version }: { version: string } = JSON.parse(readFileSync(new URL("package.json", packageRoot), "utf8"));
  return version;
}

/** The folder of a template, as a URL with a trailing slash. */
export function templateFolder(name: string): URL {
  return new URL(`templates/${name}/`, packageRoot);
}

/** The folder of an example, as a URL with a trailing slash. */
export function exampleFolder(name: string): URL {
  return new URL(`examples/${name}/`, packageRoot);
}
