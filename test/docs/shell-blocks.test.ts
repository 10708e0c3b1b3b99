import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { readHelps } from "../cli/run-command.ts";
import { root } from "../support/project-folder.ts";
import { type Block, commandsOf, pages, readBlocks, readPage, reasonsNotToRun, shellLanguages } from "./doc-page.ts";

const blocks = pages.flatMap(readBlocks);
const shellBlocks = blocks.filter(({ language }) => shellLanguages.includes(language));

/** Options of npm that the docs mention without a command. */
const optionsOfNpm: readonly string[] = ["--save-exact"];

/** The options in the help of each command, by command name such as `deliveries list`. */
const known = new Map<string, ReadonlySet<string>>();
for (const [name, help] of await readHelps()) known.set(name, new Set(help.match(/--[a-z][a-z-]*/g)));

/** Returns the arguments of each `hub-webhooks` call in a text. */
function callsIn(text: string): string[] {
  const joined = text.replaceAll("\\\n", " ").replaceAll(/\s+# .*$/gm, "");
  const calls = joined.matchAll(/(?:^|\bnpx |\bexec |\.bin\/|\| *)hub-webhooks((?: [^|;&\n]*)?)(?=[|;&\n]|$)/gm);
  return [...calls].map(([, words = ""]) => words.trim());
}

/** Returns the command and options of a call that do not exist. */
function unknownIn(call: string): string[] {
  const words = call.split(/\s+/).filter((word) => word !== "");
  let name = "";
  while (known.has(`${name} ${words[0] ?? ""}`.trim()) && words.length > 0) name = `${name} ${words.shift()}`.trim();
  const hasCommands = name === "" || name === "deliveries";
  const [next] = words;
  if (hasCommands && next !== undefined && /^[a-z]/.test(next)) return [`${name} ${next}`.trim()];
  const options = call.replaceAll(/"[^"]*"|'[^']*'/g, "").match(/(?<=^|\s)--[a-z][a-z-]*/g) ?? [];
  return options.filter((option) => !known.get(name)?.has(option)).map((option) => `${name} ${option}`);
}

/** Returns the inline code of a page. */
function inlineCode(page: string): string[] {
  const prose = readPage(page).replaceAll(/^ *```.*?^ *```$/gms, "");
  return [...prose.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code.replaceAll(/\s+/g, " "));
}

describe("The shell blocks of the docs", () => {
  test("exist, and their commands have help", () => {
    expect(shellBlocks.length).toBeGreaterThan(30);
    expect([...known.keys()]).toEqual(expect.arrayContaining(["", "create", "dev", "deliveries list"]));
    expect(shellBlocks.flatMap(({ text }) => callsIn(text)).length).toBeGreaterThan(40);
  });

  test("have the language sh or bash, and no prompt before their commands", () => {
    const command = /^(?:[A-Z_]+=\S* )*(?:\$|npx|npm|node|git|curl|docker|hub-webhooks|export|cd) /m;
    const others = blocks.filter(
      ({ language, text }) => /^(|shell|console|zsh|text)$/.test(language) && command.test(text),
    );
    expect(places(others)).toEqual([]);
    expect(places(shellBlocks.filter(({ text }) => /^\$ /m.test(text)))).toEqual([]);
  });

  test("have a mark with a known reason if they are not run", () => {
    const marked = blocks.filter(({ mark }) => mark?.name === "not run");
    expect(places(marked.filter(({ mark }) => !reasonsNotToRun.includes(mark?.value ?? "")))).toEqual([]);
    expect(places(marked.filter(({ language }) => !shellLanguages.includes(language)))).toEqual([]);
  });

  test("directly follow their marks", () => {
    for (const page of pages) {
      const marks = readPage(page).match(/^ *<!-- *(?:not run|file|output)\b.*?-->/gm) ?? [];
      const found = readBlocks(page).flatMap(({ mark }) => (mark === undefined ? [] : [mark.name]));
      expect(found, page).toHaveLength(marks.length);
    }
  });

  test("contain only complete commands", () => {
    for (const block of shellBlocks) expect(commandsOf(block), block.place).not.toEqual([]);
  });

  test("run only npm scripts that package.json has", () => {
    const missing = shellBlocks.flatMap(({ place, text }) => {
      const own = join(root, dirname(place), "package.json");
      const scripts = { ...scriptsOf(join(root, "package.json")), ...(existsSync(own) && scriptsOf(own)) };
      return [...text.matchAll(/\bnpm (?:run )?(?:--silent )?(?!ci\b|install\b|run\b|pack\b|pkg\b|init\b)(\w+)/g)]
        .filter(([, script = ""]) => scripts[script] === undefined)
        .map(([call]) => `${place}: ${call}`);
    });
    expect(missing).toEqual([]);
  });
});

describe("Command lines in the docs", () => {
  test("use existing commands and options in shell blocks", () => {
    const unknown = shellBlocks.flatMap(({ place, text }) =>
      callsIn(text).flatMap((call) => unknownIn(call).map((what) => `${place}: ${what}`)),
    );
    expect(unknown).toEqual([]);
  });

  test.each(pages)("use existing commands in the text of %s", (page) => {
    const unknown = inlineCode(page).flatMap((code) => callsIn(code).flatMap(unknownIn));
    expect(unknown).toEqual([]);
  });

  const ofTheDocs = pages.filter((page) => page.startsWith("docs/"));
  test.each(ofTheDocs)("use existing options in the text of %s", (page) => {
    const all = new Set([...known.values()].flatMap((options) => [...options]));
    const alone = inlineCode(page).flatMap((code) => /^(--[a-z][a-z-]*)/.exec(code)?.[1] ?? []);
    expect(alone.filter((option) => !all.has(option) && !optionsOfNpm.includes(option))).toEqual([]);
  });
});

function scriptsOf(path: string): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(path, "utf8")).scripts;
}

function places(some: readonly Block[]): string[] {
  return some.map(({ place, mark }) => (mark === undefined ? place : `${place}: ${mark.value}`));
}
