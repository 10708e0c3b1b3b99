/**
 * Writes the pages that follow from the source, and llms.txt. With --check it reports whether they are up to date:
 *
 *     node docs/scripts/generate.ts [--check]
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { renderCommandLine } from "./command-line.ts";
import { renderErrors } from "./errors.ts";
import { renderLlms } from "./llms.ts";

const root = new URL("../../", import.meta.url);
const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });

const files = {
  "docs/reference/errors.md": renderErrors(readFileSync(new URL("src/core/errors.ts", root), "utf8")),
  "docs/reference/cli.md": await renderCommandLine(),
  "llms.txt": renderLlms(readFileSync(new URL("docs/llms-intro.md", root), "utf8"), (path) => `docs/${path}.md`),
};

const outdated = Object.entries(files).filter(([path, text]) => text !== readIfExists(path));
if (!values.check) {
  for (const [path, text] of outdated) writeFileSync(new URL(path, root), text);
} else if (outdated.length > 0) {
  const paths = outdated.map(([path]) => fileURLToPath(new URL(path, root)));
  console.error(`Out of date: ${paths.join(", ")}. Run "npm run docs:generate" and commit the result.`);
  process.exitCode = 1;
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(new URL(path, root), "utf8");
  } catch {
    return undefined;
  }
}
