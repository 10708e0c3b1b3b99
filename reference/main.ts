/**
 * Writes docs/reference from the doc comments in src, or with --check says whether it is what they say:
 *
 *     node reference/main.ts [--check]
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { readFaces, root } from "./faces.ts";
import { Reference } from "./reference.ts";

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const folder = `${root}docs/reference`;
const { pages, problems } = new Reference(readFaces());

mkdirSync(folder, { recursive: true });
const before = new Map(readdirSync(folder).map((name) => [name, readFileSync(`${folder}/${name}`, "utf8")]));
const changed = [...new Set([...before.keys(), ...pages.keys()])].filter(
  (name) => before.get(name) !== pages.get(name),
);

if (values.check) {
  problems.push(...changed.map((name) => `docs/reference/${name} is out of date: npm run reference.`));
} else {
  for (const name of before.keys()) if (!pages.has(name)) rmSync(`${folder}/${name}`);
  for (const [name, text] of pages) writeFileSync(`${folder}/${name}`, text);
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
