import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../support/project-folder.ts";

const text = readFileSync(join(root, "llms.txt"), "utf8");
const [head = "", ...sections] = text.split(/^## /m);
const lines = sections.flatMap((section) => section.split("\n").slice(1)).filter((line) => line !== "");
const links = lines.map((line) => /^- \[[^\]]+\]\(([^)]+)\): \S.*\.$/.exec(line)?.[1]);

describe("llms.txt", () => {
  test("has a title, a summary, notes, and sections of links with a sentence each", () => {
    expect(head).toMatch(/^# hub-webhooks\n\n> [^\n]+\n\n/);
    expect(sections.length).toBeGreaterThan(2);
    expect(lines.filter((_line, index) => links[index] === undefined)).toEqual([]);
  });

  test("lists every page of the docs once", () => {
    const listed = links.filter((link) => link?.startsWith("docs/"));
    expect(listed.sort()).toEqual(globSync("docs/**/*.md", { cwd: root }).sort());
  });

  test("lists only files that exist and are in the package", () => {
    const { files }: { files: string[] } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const packed = ["README.md", ...files.flatMap((pattern) => globSync(pattern, { cwd: root }))];
    for (const link of links) {
      expect(existsSync(join(root, link ?? "")), link).toBe(true);
      expect(packed).toContain(link);
    }
    expect(packed).toContain("llms.txt");
  });

  test("uses the title of each page", () => {
    for (const [, title, link] of text.matchAll(/^- \[([^\]]+)\]\((docs\/[^)]+)\)/gm)) {
      expect(readFileSync(join(root, link ?? ""), "utf8")).toMatch(new RegExp(`^# ${title}$`, "m"));
    }
  });
});
