import { readFileSync } from "node:fs";
import { packageRoot } from "./package-root.ts";

/** Returns the version in package.json. */
export function packageVersion(): string {
  const { version }: { version: string } = JSON.parse(readFileSync(new URL("package.json", packageRoot), "utf8"));
  return version;
}
