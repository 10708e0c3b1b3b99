import { fileURLToPath } from "node:url";
import { packageRoot } from "./package-root.ts";

/** The folders that contain the code of this package: published in `dist`, in development in `src`. */
const packageFolders = ["dist/", "src/"]
  .map((folder) => new URL(folder, packageRoot))
  .flatMap((folder) => [folder.href, fileURLToPath(folder)]);

/** Splits a stack into lines, without the frames of Node, this package, or other packages. */
export function userStackLines(stack: string): string[] {
  const isForeign = (line: string) =>
    /^\s+at /.test(line) &&
    (/node:|\/node_modules\//.test(line) || packageFolders.some((folder) => line.includes(folder)));
  return stack.split("\n").filter((line) => !isForeign(line));
}
