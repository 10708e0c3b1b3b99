// @module-tag slow

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, symlink } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { makeProject } from "../support/project-folder.ts";
import { type FailedFile, loadBrokenFiles } from "./describe-files.ts";

const repository = fileURLToPath(new URL("../../", import.meta.url));

const head = 'import { WebhooksServer } from "hub-webhooks";\nconst server = new WebhooksServer();\n';

/**
 * Asserts that the stack has no frames of Node or of this package, because they do not help the author of a server
 * file.
 */
function expectOwnFramesOnly({ stack, stderr }: FailedFile): void {
  expect(stderr).toBe("");
  expect(stack).not.toMatch(/node:|\/src\/|\/dist\/|Node\.js v/);
}

describe.concurrent("The failure of a server file", () => {
  test.for([
    ["run by Node", ""],
    ["transpiled", "enum Kind { First }\n"],
  ])("contains the line that throws, in a file %s", async ([, enumeration = ""]) => {
    const source = `${head}${enumeration}function deep(): void {\n  throw new RangeError("no luck\\nat all");\n}\ndeep();\n`;
    const refused = await loadBrokenFiles({ "server.ts": source });
    const line = enumeration === "" ? 4 : 5;
    const place = `${refused.folder}/server.ts:${line}:9`;
    expect(refused.message).toBe(`server.ts failed to load. RangeError: no luck (${place})`);
    expect(refused.stack).toContain("RangeError: no luck\nat all");
    expect(refused.stack).toContain(`/server.ts:${line}:9`);
    expect(refused.stack).toContain(`/server.ts:${line + 2}:1`);
    expectOwnFramesOnly(refused);
  });

  test("contains the line of an imported file that throws", async () => {
    const refused = await loadBrokenFiles({
      "server.ts": `import "./lib/broken name.ts";\n${head}`,
      "lib/broken name.ts": '\nexport const made: number = 1;\nthrow new Error("no luck");',
    });
    expect(refused.message).toBe(`server.ts failed to load. Error: no luck (${refused.folder}/lib/broken name.ts:3:7)`);
  });

  test("contains the value that is thrown, when that is not an Error", async () => {
    const { message } = await loadBrokenFiles({ "server.ts": 'throw "a text";\nexport {};' });
    expect(message).toBe('server.ts failed to load. The file throws "a text".');
  });

  test("contains an uncaught error that is thrown while the import waits", async () => {
    const later = await loadBrokenFiles({
      "server.ts": `${head}setImmediate(() => {\n  throw new Error("later");\n});\nawait new Promise(() => {});`,
    });
    expect(later.message).toBe(`server.ts failed to load. Error: later (${later.folder}/server.ts:4:9)`);
    expectOwnFramesOnly(later);
    const floating = await loadBrokenFiles({
      "server.ts": `${head}void Promise.reject(new Error("floating"));\nawait new Promise(() => {});`,
    });
    expect(floating.message).toBe(`server.ts failed to load. Error: floating (${floating.folder}/server.ts:3:21)`);
    expectOwnFramesOnly(floating);
  });

  test.for([
    ["in TypeScript", { "server.ts": `${head}const other = = 3;` }, /Expression expected \(.*\/server\.ts:3\)$/],
    [
      "in a file that is transpiled",
      { "server.ts": `${head}enum A { b }\nconst c = = 3;` },
      /server\.ts:4:11: Expression expected in: const c = = 3;$/,
    ],
    ["in JavaScript", { "server.mjs": `${head}const other = = 3;` }, /Unexpected token '=' \(.*\/server\.mjs\)$/],
    [
      "in a file that it imports",
      {
        "server.ts": `import "./good.ts";\nimport "./bad.ts";\nimport "./other.ts";\n${head}`,
        "good.ts": "export {};",
        "bad.ts": "let twice = 1;\nlet twice = 2;\nexport {};",
        "other.ts": "export {};",
      },
      /'twice' has already been declared \(.*\/bad\.ts\)$/,
    ],
  ] as const)("contains the position of a syntax error %s", async ([, files, expected]) => {
    const refused = await loadBrokenFiles(files);
    expect(refused.message).toMatch(expected);
    expectOwnFramesOnly(refused);
  });

  test("contains the missing import and its importer", async () => {
    const file = await loadBrokenFiles({ "server.ts": `import "./nowhere.js";\n${head}` });
    expect(file.message).toContain(`${file.folder}/nowhere.js' imported from ${file.folder}/server.ts`);
    const installed = await loadBrokenFiles({ "server.ts": `import "nowhere";\n${head}` });
    expect(installed.message).toContain(`Cannot find package 'nowhere' imported from ${installed.folder}/server.ts`);
    const name = await loadBrokenFiles({
      "server.ts": `import { b } from "./lib.ts";\nconsole.log(b);`,
      "lib.ts": "export const a = 1;",
    });
    expect(name.message).toMatch(/'\.\/lib\.ts' does not provide an export named 'b' \(.*\/server\.ts:1\)$/);
  });

  test.for([
    ["process.exit()", "code 0"],
    ['process.kill(process.pid, "SIGKILL")', "SIGKILL"],
  ])("contains the exit code or signal after %s", async ([statement = "", how]) => {
    const { message, stderr } = await loadBrokenFiles({
      "server.ts": `${head}console.error("the end");\n${statement};`,
    });
    expect(message).toBe(
      `server.ts failed to load. The process of the server file exited with ${how} before the server was ready.`,
    );
    expect(stderr).toBe("the end");
  });

  test("contains the error of the package, and the line that caused it", async () => {
    const refused = await loadBrokenFiles({ "server.ts": `${head}\nserver.webhook("a b?c", () => {});` });
    expect(refused.message).toMatch(/Invalid endpoint name "a b\?c"\..*\(.*\/server\.ts:4:8\)$/);
    expect(refused.stderr).toBe("");
  });

  test.for([
    ["exports nothing", "export const server = 1;", 'The file exports no server. Add "export default server;".'],
    [
      "exports something else",
      "export default { port: 7860 };",
      /^The default export is not a WebhooksServer, or an incompatible version/,
    ],
    [
      "launches several servers",
      `${head}await server.launch();\nawait new WebhooksServer().launch();`,
      'The file launches 2 servers. Choose one with "export default".',
    ],
    [
      "registers nothing with webhookEndpoint",
      'import { webhookEndpoint } from "hub-webhooks";\nvoid webhookEndpoint;',
      'The file exports no server. Add "export default server;".',
    ],
  ] as const)("explains what to export when the file %s", async ([, source, expected]) => {
    const { message } = await loadBrokenFiles({ "server.ts": source });
    const reason = message.slice("server.ts failed to load. ".length);
    if (typeof expected === "string") expect(reason).toBe(expected);
    else expect(reason).toMatch(expected);
  });

  test("suggests installing @swc/wasm only if the file needs it, and the project does not have it", async () => {
    // A copy of the package runs in a folder with all of its dependencies except swc.
    await using project = await makeProject({
      "tool/package.json": '{ "type": "module" }',
      "bot/enum.ts": `${head}enum Kind { First }\nexport default server;`,
      "bot/plain.ts": `${head}server.webhook("retrain", () => {});\nexport default server;`,
      "equipped/enum.ts": `${head}enum Kind { First = "tag" }\nserver.webhook(Kind.First, () => {});\nexport default server;`,
    });
    const tool = join(project.path, "tool");
    await cp(join(repository, "src"), join(tool, "src"), { recursive: true });
    await project.write("tool/node_modules/readme.md", "");
    await symlink(join(repository, "node_modules/zod"), join(tool, "node_modules/zod"));
    await project.write("equipped/node_modules/@swc/readme.md", "");
    await symlink(join(repository, "node_modules/@swc/wasm"), join(project.path, "equipped/node_modules/@swc/wasm"));
    const script = await project.write(
      "tool/describe.mjs",
      `import { describeServerFile } from "./src/server-file/server-process.ts";
       for (const file of process.argv.slice(2)) {
         console.log(await describeServerFile(file).then(({ endpoints }) => endpoints[0].name, ({ message }) => message));
       }`,
    );
    const files = ["bot/enum.ts", "bot/plain.ts", "equipped/enum.ts"].map((name) => join(project.path, name));
    const child = spawn(process.execPath, [script, ...files], { stdio: ["ignore", "pipe", "inherit"] });
    const [output] = await Promise.all([text(child.stdout), once(child, "close")]);
    const lines = output.trim().split("\n");
    expect(lines).toEqual([
      expect.stringMatching(/^enum\.ts failed to load\..*npm install --save-dev @swc\/wasm/),
      "retrain",
      "tag",
    ]);
  });
});
