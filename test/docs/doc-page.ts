import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../support/project-folder.ts";

/** The allowed reasons for not running a block. */
export const reasonsNotToRun: readonly string[] = [
  "is of this repository",
  "needs an account on the Hub",
  "needs Docker",
  "needs Python",
];

/** Languages of shell blocks. */
export const shellLanguages: readonly string[] = ["sh", "bash"];

/** The mark of a block, in a comment on the previous line, such as `<!-- not run: needs Docker -->`. */
export interface Mark {
  /** `not run` with a reason, `file` with the name of the file to write, or `output` of the previous block. */
  name: string;
  value: string;
}

/** A fenced block of a page. */
export interface Block {
  /** The location of the block in messages, such as `docs/quick-start.md:6`. */
  place: string;
  language: string;
  /** The content without the indentation of the fence. */
  text: string;
  mark: Mark | undefined;
}

/** The paths of the site's pages without the API reference, relative to the repository. */
export const sitePages: readonly string[] = globSync("docs/**/*.md", {
  cwd: root,
  exclude: (name) => name === "node_modules" || name === "api",
}).sort();

/** The paths of all pages, relative to the repository. */
export const pages: readonly string[] = [
  ...globSync(
    [
      "README.md",
      "CONTRIBUTING.md",
      "AGENTS.md",
      "SKILL.md",
      "{examples,templates}/*/README.md",
      "templates/AGENTS.md",
      "bench/README.md",
    ],
    {
      cwd: root,
    },
  ),
  ...sitePages,
].sort();

/** Returns the text of a page. */
export function readPage(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

/** Returns the fenced blocks of a page in order. */
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

/** Returns the commands of a shell block, including those that span several lines. */
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

/** Returns the folder of a page that is part of an example or a template, which users can copy. */
export function projectOf(page: string): string | undefined {
  if (page === "templates/AGENTS.md") return join(root, "templates/space");
  return /^(examples|templates)\//.test(page) ? join(root, dirname(page)) : undefined;
}

/** An entry point of this package. */
export interface EntryPoint {
  /** For example, `hub-webhooks/client`. */
  readonly specifier: string;
  /** The file in `src` with its exports. */
  readonly file: string;
}

/** Returns the entry points in the order of `exports` in package.json. */
export function readEntryPoints(): EntryPoint[] {
  const { name, exports }: { name: string; exports: Record<string, unknown> } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  return Object.keys(exports)
    .filter((subpath) => subpath !== "./package.json")
    .map((subpath) => {
      const place = subpath.slice(2);
      return {
        specifier: place === "" ? name : `${name}/${place}`,
        file: join(root, `src/${place || "index"}.ts`),
      };
    });
}

/** Returns the names that an entry point exports. */
export function readExports({ file }: EntryPoint): { name: string; isType: boolean }[] {
  const text = readFileSync(file, "utf8");
  const listed = [...text.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, type, names = ""]) =>
    [...names.matchAll(/(type )?(\w+)\s*(?:,|$)/g)].map(([, ownType, name = ""]) => ({
      name,
      isType: (type ?? ownType) !== undefined,
    })),
  );
  const declared = [...text.matchAll(/^export (?:async )?(interface|type|function|class|const) (\w+)/gm)];
  return [
    ...listed,
    ...declared.map(([, kind = "", name = ""]) => ({ name, isType: kind === "interface" || kind === "type" })),
  ];
}
