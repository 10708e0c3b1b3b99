import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../e2e/root.ts";

/** Why a block may be left out: it needs what is not at hand. */
export const reasonsNotToRun: readonly string[] = [
  "is of this repository",
  "needs an account on the Hub",
  "needs Docker",
  "needs Python",
];

/** The languages that a shell block is marked with. */
export const shellLanguages: readonly string[] = ["sh", "bash"];

/** What a comment on the line before a block says of it, as in `<!-- not run: needs Docker -->`. */
export interface Mark {
  /** `not run`, with a reason; `file`, with the name under which the block is kept; `output`, of what was run before. */
  name: string;
  value: string;
}

/** A fenced block of a page. */
export interface Block {
  /** Where it begins, for a message: `docs/local.md:6`. */
  place: string;
  language: string;
  /** Without the indentation of its fence. */
  text: string;
  mark: Mark | undefined;
}

/** Every page that is written by hand, by its path from the root of this repository. */
export const pages: readonly string[] = globSync(
  ["README.md", "CONTRIBUTING.md", "docs/*.md", "{examples,templates}/*/README.md", "bench/README.md"],
  { cwd: root },
).sort();

/** The text of a page. */
export function readPage(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

/** The fenced blocks of a page, in their order. */
export function readBlocks(page: string): Block[] {
  const text = readPage(page);
  return [...text.matchAll(/^( *)```(\w*)[^\n]*\n(.*?)^ *```$/gms)].map(
    ({ 1: indent = "", 2: language, 3: code, index }) => {
      const before = text.slice(0, index).trimEnd().split("\n").at(-1)?.trim() ?? "";
      const [, name, value = ""] = /^<!-- (not run|file|output)(?:: (.*?))? -->$/.exec(before) ?? [];
      return {
        place: `${page}:${text.slice(0, index).split("\n").length}`,
        language: language ?? "",
        text: (code ?? "").replaceAll(new RegExp(`^${indent}`, "gm"), ""),
        mark: name === undefined ? undefined : { name, value },
      };
    },
  );
}

/** The commands of a shell block: lines, and those that go on over several of them. */
export function commandsOf({ text }: Pick<Block, "text">): string[] {
  const commands: string[] = [];
  let command = "";
  for (const line of text.trimEnd().split("\n")) {
    command += command === "" ? line : `\n${line}`;
    const isOpen = line.endsWith("\\") || (command.split("'").length - 1) % 2 === 1;
    if (isOpen) continue;
    if (!/^\s*(#.*)?$/.test(command)) commands.push(command);
    command = "";
  }
  if (command !== "") throw new Error(`A command does not end: ${command}`);
  return commands;
}

/** The folder of a page, where it is the README of a project that can be copied: an example or a template. */
export function projectOf(page: string): string | undefined {
  return /^(examples|templates)\//.test(page) ? join(root, dirname(page)) : undefined;
}
