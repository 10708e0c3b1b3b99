import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { createFolder } from "../support/temporary-folder.ts";
import { pages, readBlocks, readEntryPoints, readExports } from "./doc-page.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

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
