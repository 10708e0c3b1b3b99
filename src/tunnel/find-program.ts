import { accessSync, constants, statSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";

/**
 * Finds a program on `PATH`, or else in `node_modules/.bin` of the working directory and the folders above it.
 *
 * @returns its file, or `undefined` where it is not installed.
 */
export function findProgram(name: string): string | undefined {
  const file = process.platform === "win32" ? `${name}.exe` : name;
  const onPath = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const installed = foldersUpwards(process.cwd()).map((folder) => join(folder, "node_modules", ".bin"));
  return [...onPath, ...installed].map((folder) => resolve(folder, file)).find(isExecutable);
}

function foldersUpwards(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersUpwards(parent)];
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
