import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, symlink } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { makeProject } from "../support/project-folder.ts";
import { type Refused, refuseFiles } from "./described.ts";

const repository = fileURLToPath(new URL("../../", import.meta.url));

const head = 'import { WebhooksServer } from "hub-webhooks";\nconst server = new WebhooksServer();\n';

/** The frames of Node and of this package help nobody who wrote a file. */
function expectOwnFramesOnly({ stack, stderr }: Refused): void {
  expect(stderr).toBe("");
  expect(stack).not.toMatch(/node:|\/src\/|\/dist\/|Node\.js v/);
}

describe.concurrent("A server's file that does not load", () => {
  test.for([
    ["as it is", ""],
    ["lowered", "enum Kind { First }\n"],
  ])("is told with its line where it throws, %s", async ([, enumeration = ""]) => {
    const source = `${head}${enumeration}function deep(): void {\n  throw new RangeError("no luck\\nat all");\n}\ndeep();\n`;
    const refused = await refuseFiles({ "server.ts": source });
    const line = enumeration === "" ? 4 : 5;
    const place = `${refused.folder}/server.ts:${line}:9`;
    expect(refused.message).toBe(`server.ts does not load. RangeError: no luck (${place})`);
    expect(refused.stack).toContain("RangeError: no luck\nat all");
    expect(refused.stack).toContain(`/server.ts:${line}:9`);
    expect(refused.stack).toContain(`/server.ts:${line + 2}:1`);
    expectOwnFramesOnly(refused);
  });

  test("is told with the line of another file that throws", async () => {
    const refused = await refuseFiles({
      "server.ts": `import "./lib/broken name.ts";\n${head}`,
      "lib/broken name.ts": '\nexport const made: number = 1;\nthrow new Error("no luck");',
    });
    expect(refused.message).toBe(`server.ts does not load. Error: no luck (${refused.folder}/lib/broken name.ts:3:7)`);
  });

  test("is told by what it throws where that is no error", async () => {
    const { message } = await refuseFiles({ "server.ts": 'throw "a text";\nexport {};' });
    expect(message).toBe('server.ts does not load. It throws "a text".');
  });

  test("is told with what is thrown behind its back while it is waited for", async () => {
    const later = await refuseFiles({
      "server.ts": `${head}setImmediate(() => {\n  throw new Error("later");\n});\nawait new Promise(() => {});`,
    });
    expect(later.message).toBe(`server.ts does not load. Error: later (${later.folder}/server.ts:4:9)`);
    expectOwnFramesOnly(later);
    const floating = await refuseFiles({
      "server.ts": `${head}void Promise.reject(new Error("floating"));\nawait new Promise(() => {});`,
    });
    expect(floating.message).toBe(`server.ts does not load. Error: floating (${floating.folder}/server.ts:3:21)`);
    expectOwnFramesOnly(floating);
  });

  test.for([
    ["in TypeScript", { "server.ts": `${head}const other = = 3;` }, /Expression expected \(.*\/server\.ts:3\)$/],
    [
      "in a file that is lowered",
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
  ] as const)("is told with its place where the syntax is wrong %s", async ([, files, expected]) => {
    const refused = await refuseFiles(files);
    expect(refused.message).toMatch(expected);
    expectOwnFramesOnly(refused);
  });

  test("is told with what is imported and missing, and by whom", async () => {
    const file = await refuseFiles({ "server.ts": `import "./nowhere.js";\n${head}` });
    expect(file.message).toContain(`${file.folder}/nowhere.js' imported from ${file.folder}/server.ts`);
    const installed = await refuseFiles({ "server.ts": `import "nowhere";\n${head}` });
    expect(installed.message).toContain(`Cannot find package 'nowhere' imported from ${installed.folder}/server.ts`);
    const name = await refuseFiles({
      "server.ts": `import { b } from "./lib.ts";\nconsole.log(b);`,
      "lib.ts": "export const a = 1;",
    });
    expect(name.message).toMatch(/'\.\/lib\.ts' does not provide an export named 'b' \(.*\/server\.ts:1\)$/);
  });

  test.for([
    ["process.exit(3)", "code 3"],
    ["process.exit()", "code 0"],
    ['process.kill(process.pid, "SIGKILL")', "SIGKILL"],
  ])("is told by how its process ended after %s", async ([statement = "", how]) => {
    const { message, stderr } = await refuseFiles({ "server.ts": `${head}console.error("the end");\n${statement};` });
    expect(message).toBe(`server.ts does not load. Its process ended with ${how} before the server was there.`);
    expect(stderr).toBe("the end");
  });

  test("is told with what the package says of it, and where", async () => {
    const refused = await refuseFiles({ "server.ts": `${head}\nserver.webhook("a b?c", () => {});` });
    expect(refused.message).toMatch(/Endpoint name "a b\?c" cannot be part of a URL.*\(.*\/server\.ts:4:8\)$/);
    expect(refused.stderr).toBe("");
  });

  test.for([
    ["exports nothing", "export const server = 1;", 'It exports no server: end it with "export default server;".'],
    ["is empty", "", 'It exports no server: end it with "export default server;".'],
    [
      "exports something else",
      "export default { port: 7860 };",
      /^Its default export is no WebhooksServer of this release:/,
    ],
    [
      "launches several servers",
      `${head}await server.launch();\nawait new WebhooksServer().launch();`,
      "It launches 2 servers: say which one is meant, with export default.",
    ],
    [
      "registers nothing with webhookEndpoint",
      'import { webhookEndpoint } from "hub-webhooks";\nvoid webhookEndpoint;',
      'It exports no server: end it with "export default server;".',
    ],
  ] as const)("is told what to write where it %s", async ([, source, expected]) => {
    const { message } = await refuseFiles({ "server.ts": source });
    const said = message.slice("server.ts does not load. ".length);
    if (typeof expected === "string") expect(said).toBe(expected);
    else expect(said).toMatch(expected);
  });

  test("is told to install @swc/wasm where it needs that, and that alone needs it", async () => {
    // The tool runs from a copy, in a folder where everything is installed but swc.
    await using project = await makeProject({
      "tool/package.json": '{ "type": "module" }',
      "bot/enum.ts": `${head}enum Kind { First }\nexport default server;`,
      "bot/plain.ts": `${head}server.webhook("retrain", () => {});\nexport default server;`,
    });
    const tool = join(project.path, "tool");
    await cp(join(repository, "dist"), join(tool, "dist"), { recursive: true });
    await project.write("tool/node_modules/readme.md", "");
    await symlink(join(repository, "node_modules/zod"), join(tool, "node_modules/zod"));
    const script = await project.write(
      "tool/describe.mjs",
      `import { describeServerFile } from "./dist/server-file/server-file.js";
       for (const file of process.argv.slice(2)) {
         console.log(await describeServerFile(file).then(({ endpoints }) => endpoints[0].name, ({ message }) => message));
       }`,
    );
    const files = ["enum.ts", "plain.ts"].map((name) => join(project.path, "bot", name));
    const child = spawn(process.execPath, [script, ...files], { stdio: ["ignore", "pipe", "inherit"] });
    const [said] = await Promise.all([text(child.stdout), once(child, "close")]);
    const lines = said.trim().split("\n");
    expect(lines).toEqual([
      expect.stringMatching(/^enum\.ts does not load\..*npm install --save-dev @swc\/wasm/),
      "retrain",
    ]);
  });
});
