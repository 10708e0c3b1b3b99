import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readFaces } from "../../reference/faces.ts";
import { runProgram } from "../../scripts/dockerfile/program.ts";
import { root } from "../e2e/root.ts";
import { readExports } from "./exports.ts";

const faces = readFaces();
const readPage = (name: string) => readFileSync(join(root, "docs/reference", name), "utf8");

const skipped = process.env.SLOW_TESTS !== "1";
if (skipped) console.warn("The reference is not written anew, which installs a compiler. SLOW_TESTS=1 does it.");

describe("The reference", () => {
  test.each(faces)("tells of everything that $address exports", (face) => {
    const page = readPage(face.page);
    const headings = [...page.matchAll(/^### (\w+)/gm)].map(([, name = ""]) => name);
    // What another face exports too has its place there.
    const [, links = ""] = /^\*\*Also here\*\*: (.*)$/m.exec(page) ?? [];
    const elsewhere = [...links.matchAll(/\[(\w+)\]/g)].map(([, name = ""]) => name);
    expect([...headings, ...elsewhere].sort()).toEqual(
      readExports(face)
        .map(({ name }) => name)
        .sort(),
    );
  });

  test.each(faces)("leads from its first page to everything that $address has", (face) => {
    const places = [...readPage("README.md").matchAll(/\(([\w-]+\.md)#([\w-]+)\)/g)]
      .filter(([, page]) => page === face.page)
      .map(([, , anchor]) => anchor);
    for (const [, heading = ""] of readPage(face.page).matchAll(/^### (.+)$/gm)) {
      expect(places).toContain(heading.toLowerCase().replaceAll(/[()]/g, "").replaceAll(" ", "-"));
    }
  });

  test.skipIf(skipped)("is what the doc comments say, of which none is missing", { timeout: 180_000 }, async () => {
    const installed = await runProgram(["npm", "ci", "--prefix", "reference"], { cwd: root });
    expect(installed.code, installed.output).toBe(0);
    const tsc = join(root, "node_modules/.bin/tsc");
    for (const command of [
      [tsc, "-p", "reference"],
      ["node", "reference/main.ts", "--check"],
    ]) {
      expect(await runProgram(command, { cwd: root })).toEqual({ code: 0, output: "" });
    }
  });
});
