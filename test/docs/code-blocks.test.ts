import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { readHelps } from "../cli/run-command.ts";
import { root } from "../support/project-folder.ts";
import { createFolder } from "../support/temporary-folder.ts";
import {
  type Block,
  commandsOf,
  pages,
  readBlocks,
  readEntryPoints,
  readExports,
  readPage,
  reasonsNotToRun,
  shellLanguages,
} from "./doc-page.ts";

const entryPoints = readEntryPoints();

/** Declarations of names that blocks use from earlier blocks of the page. */
const context: Record<string, string> = {
  server: 'declare const server: import("hub-webhooks").WebhooksServer;',
  train: "declare function train(payload: unknown): Promise<void>;",
  isScope: 'import { isScope } from "hub-webhooks";',
  WebhooksServer: 'import { WebhooksServer } from "hub-webhooks";',
  webhookPayload: 'import { webhookPayload } from "hub-webhooks/testing";',
  deliveryRequest: 'import { deliveryRequest } from "hub-webhooks/testing";',
  repo: 'declare const repo: import("hub-webhooks/client").HubRepository;',
  bytes: "declare const bytes: Uint8Array<ArrayBuffer>;",
};

/** Imports and declarations that the examples in doc comments omit. */
const exampleContext: Record<string, string> = {
  ...Object.fromEntries(
    entryPoints.flatMap((entry) =>
      readExports(entry).map(({ name, isType }) => [
        name,
        `import ${isType ? "type " : ""}{ ${name} } from "${entry.specifier}";`,
      ]),
    ),
  ),
  ...context,
  hub: 'declare const hub: import("hub-webhooks/client").HubClient;',
  client: 'declare const client: import("hub-webhooks/client").HubClient;',
  localHub: 'declare const localHub: import("hub-webhooks/local-hub").LocalHub;',
  id: "declare const id: string;",
  webhook: 'declare const webhook: import("hub-webhooks/client").WebhookRequest;',
  tunnel: 'declare const tunnel: import("hub-webhooks/dev").Tunnel;',
  payload: 'declare const payload: import("hub-webhooks").WebhookPayload;',
  modelExists: "declare function modelExists(name: string): Promise<boolean>;",
  url: "declare const url: string;",
  headers: "declare const headers: Headers;",
  body: "declare const body: string;",
  card: "declare const card: string;",
};

/** Returns the TypeScript blocks of a page with missing declarations added. */
function blocksOf(page: string): string[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^```ts(?: \[.*\])?\n(.*?)^```$/gms)].map(([, code = ""]) => complete(code, context));
}

/** Returns the examples in the doc comments of the public declarations. */
function readExamples(): string[] {
  const declarations = readFileSync(join(root, "api/hub-webhooks.d.ts"), "utf8");
  return [...declarations.matchAll(/^ +\* ```ts\n(.*?)^ +\* ```$/gms)].map(([, code = ""]) =>
    complete(code.replaceAll(/^ +\* ?/gm, ""), exampleContext),
  );
}

/** Adds the missing declarations to a block. */
function complete(code: string, known: Record<string, string>): string {
  const missing = Object.keys(known).filter(
    (name) =>
      new RegExp(`\\b${name}\\b`).test(code) &&
      !new RegExp(`(?:(?:const|let|using|function|class)\\s+(?:\\{[^}]*)?|import [^;]*)\\b${name}\\b`).test(code),
  );
  return [...missing.map((name) => known[name]), code, "export {};"].join("\n");
}

/** Creates a folder in which `hub-webhooks` resolves to `src`. */
function makeFolder(): string {
  const folder = createFolder();
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const faces = ["client", "dev", "job", "local-hub", "testing"];
  const paths = Object.fromEntries(faces.map((face) => [`hub-webhooks/${face}`, [join(root, `src/${face}.ts`)]]));
  const compilerOptions = {
    noUnusedLocals: false,
    noUnusedParameters: false,
    typeRoots: [join(root, "node_modules/@types")],
    paths: { "hub-webhooks": [join(root, "src/index.ts")], ...paths },
  };
  const include = ["**/*.ts", join(root, "src/tunnel/*.d.ts")];
  const settings = { extends: join(root, "tsconfig.json"), compilerOptions, include };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  return folder;
}

/** The content of an imported server file that the page does not show. */
const importedServer =
  'import { WebhooksServer } from "hub-webhooks";\nconst server = new WebhooksServer();\nexport { server };\nexport default server;\n';

/** Writes the files that the blocks of a page import: from the page, or else a default server. */
function writeImported(page: string, folder: string): void {
  const files = new Map(["bot.ts", "server.ts"].map((name) => [name, importedServer]));
  if (page !== "examples") {
    for (const { language, text, mark } of readBlocks(page)) {
      if (language === "ts" && mark?.name === "file") files.set(mark.value, text);
    }
  }
  for (const [name, text] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

describe("The code in the docs", () => {
  test("compiles in every block and in every doc comment example", { tags: "slow", timeout: 120_000 }, async () => {
    const folder = makeFolder();
    let blocks = 0;
    for (const [page, codes] of [
      ...pages.map((name) => [name, blocksOf(name)] as const),
      ["examples", readExamples()] as const,
    ]) {
      const own = join(folder, page.replaceAll(/\W/g, "-"));
      mkdirSync(own);
      writeImported(page, own);
      for (const [index, code] of codes.entries()) {
        writeFileSync(join(own, `block-${index + 1}.ts`), code);
        blocks += 1;
      }
    }
    const compiled = promisify(execFile)(join(root, "node_modules/.bin/tsc"), ["-p", folder]);
    expect(
      await compiled.then(
        () => "",
        ({ stdout }: { stdout: string }) => stdout,
      ),
    ).toBe("");
    expect(blocks).toBeGreaterThan(60);
  });
});

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
