import { existsSync, readdirSync, readFileSync } from "node:fs";
import { transformSync } from "esbuild";

/** A deliberate fault in the source, which a test must notice. */
export interface Fault {
  /** The broken behavior, as a sentence. Unique in all lists, because code moves but behavior stays. */
  name: string;
  file: string;
  /** Text that occurs exactly once in the file. */
  find: string;
  replace: string;
  /** Test files of which at least one fails with the fault. */
  tests: readonly string[];
  /** Whether these tests run the built package. Takes several seconds longer. */
  needsBuild?: boolean;
}

export interface ListedFault extends Fault {
  /** The name of the list. */
  area: string;
}

const lists = new URL("faults/", import.meta.url);

export async function loadFaults(): Promise<ListedFault[]> {
  const loaded = readdirSync(lists).map(async (list): Promise<ListedFault[]> => {
    const { faults }: { faults: readonly Fault[] } = await import(new URL(list, lists).href);
    return faults.map((fault) => ({ ...fault, area: list.replace(/\.ts$/, "") }));
  });
  return (await Promise.all(loaded)).flat();
}

/** Returns the broken source, or why the fault cannot be applied to the current sources. */
export function applyFault({ file, find, replace, tests }: Fault, root: URL): { source: string } | { problem: string } {
  const at = new URL(file, root);
  if (!existsSync(at)) return { problem: `${file} does not exist` };
  const missing = tests.find((test) => !existsSync(new URL(test, root)));
  if (missing !== undefined || tests.length === 0) return { problem: `${missing ?? "a test"} does not exist` };
  const parts = readFileSync(at, "utf8").split(find);
  if (parts.length !== 2) return { problem: `"find" occurs ${parts.length - 1} times in ${file}` };
  const source = parts.join(replace);
  try {
    if (/\.tsx?$/.test(file)) transformSync(source, { loader: file.endsWith("x") ? "tsx" : "ts" });
  } catch {
    return { problem: `${file} has a syntax error after the replacement` };
  }
  return { source };
}
