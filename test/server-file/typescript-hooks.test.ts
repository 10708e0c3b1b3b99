// @module-tag slow

import { beforeAll, describe, expect, test } from "vitest";
import { type DescribedFile, describeFiles, endpointsOf } from "./describe-files.ts";

const head = 'import { WebhooksServer } from "hub-webhooks";\nexport const server = new WebhooksServer();\n';
const foot = "\nexport default server;\n";

/** Returns the source of a server file whose `body` registers an endpoint. */
const withBody = (body: string) => `${head}${body}${foot}`;

/** A part of a project: its files, of which the server file imports the first, and the endpoints that it registers. */
interface Part {
  title: string;
  files: Readonly<Record<string, string>>;
  endpoints: readonly string[];
}

/** Describes a server file that imports all parts. Each is in a folder of its own, so that one process loads them. */
function describeParts(parts: readonly Part[]): Promise<DescribedFile> {
  const files: Record<string, string> = {};
  const imports: string[] = [];
  for (const [index, part] of parts.entries()) {
    imports.push(`import "./part-${index}/${Object.keys(part.files)[0]}";`);
    for (const [file, text] of Object.entries(part.files)) files[`part-${index}/${file}`] = text;
  }
  return describeFiles({
    "server.ts": [...imports, 'export { server as default } from "./app.ts";'].join("\n"),
    "app.ts": head,
    ...files,
  });
}

/** Tests that the endpoints of each part exist. */
function testParts(parts: readonly Part[]): void {
  let described: DescribedFile;
  beforeAll(async () => {
    described = await describeParts(parts);
  });
  test.for(parts)("$title", ({ endpoints }) => {
    expect(described.description.endpoints.map(({ name }) => name)).toEqual(expect.arrayContaining([...endpoints]));
  });
  test("prints no warning", () => {
    expect(described.output).toEqual([]);
  });
}

const app = 'import { server } from "../app.ts";\n';

/** A part that consists of one file. */
const inFile = (title: string, body: string, endpoints: readonly string[]): Part => ({
  title,
  files: { "part.ts": app + body },
  endpoints,
});

describe("A server file", () => {
  testParts([
    inFile(
      "can use decorators",
      `class Bot {
        @server.webhook("retrain", { watch: "dataset:me/data" })
        retrain(): void {}
      }
      new Bot();`,
      ["retrain"],
    ),
    inFile(
      "can use decorators in the middle of a line",
      'class Bot { @server.webhook("in-a-line") retrain(): void {} }\nnew Bot();',
      ["in-a-line"],
    ),
    {
      title: "can use standard decorators, even if tsconfig.json enables legacy ones",
      files: {
        "part.ts": `${app}class Bot {\n  @server.webhook("standard")\n  retrain(): void {}\n}\nnew Bot();`,
        "tsconfig.json": JSON.stringify({ compilerOptions: { experimentalDecorators: true } }),
      },
      endpoints: ["standard"],
    },
    inFile(
      "can use enums, namespaces and parameter properties",
      `enum Kind { First = "first" }
      const enum Fixed { Second = "second" }
      namespace Names { export const third = "third"; }
      namespace Deep.Names { export const fifth = "fifth"; }
      class Named { constructor(public readonly name: string) {} }
      for (const name of [Kind.First, Fixed.Second, Names.third, new Named("fourth").name, Deep.Names.fifth]) {
        server.webhook(name, () => {});
      }`,
      ["first", "second", "third", "fourth", "fifth"],
    ),
    inFile("can use only an enum", 'enum Names { first = "enum" }\nserver.webhook(Names.first, () => {});', ["enum"]),
    inFile(
      "can use only a dotted namespace",
      'namespace A.B { export const name = "namespace"; }\nserver.webhook(A.B.name, () => {});',
      ["namespace"],
    ),
    inFile(
      "can use only a parameter property",
      'class Named { constructor(private readonly name = "property") {} get() { return this.name; } }\nserver.webhook(new Named().get(), () => {});',
      ["property"],
    ),
    {
      title: "can be TSX or import TSX",
      files: {
        "part.tsx": `${app}import { element } from "./view.tsx";\nserver.webhook(element.type, () => {});`,
        "view.tsx": "/** @jsxImportSource made */\nexport const element = <tsx />;",
        "node_modules/made/package.json": JSON.stringify({ name: "made", exports: { "./jsx-runtime": "./jsx.mjs" } }),
        "node_modules/made/jsx.mjs": "export const jsx = (type) => ({ type });",
      },
      endpoints: ["tsx"],
    },
    {
      title: "can import ./x.ts as ./x.js, and ./x.mts as ./x.mjs",
      files: {
        "part.ts": `${app}import { first } from "./lib/first.js";\nimport { second } from "./second.mjs";\nserver.webhook(first, () => {});\nserver.webhook(second, () => {});`,
        "lib/first.ts": 'import { name } from "../name.js";\nexport const first: string = name;',
        "second.mts": 'export const second: string = "from-mts";',
        // A file that exists with the imported name takes precedence.
        "name.js": 'export const name = "from-javascript";',
        "name.ts": 'export const name: string = "from-typescript";',
      },
      endpoints: ["from-javascript", "from-mts"],
    },
    inFile(
      "can use top-level await",
      'const name = await new Promise<string>((resolve) => setImmediate(() => resolve("late")));\nserver.webhook(name, () => {});',
      ["late"],
    ),
    ...([undefined, {}, { type: "module" }, { type: "commonjs" }] as const).map((fields, index) => ({
      title: `is a module in a package ${fields ? `with ${JSON.stringify(fields)}` : "without package.json"}`,
      files: {
        "part.ts": `${app}import { name } from "./name.ts";\nserver.webhook(name, () => {});`,
        "name.ts": `export const name: string = "package-${index}";`,
        ...(fields && { "package.json": JSON.stringify({ name: "bot", ...fields }) }),
      },
      endpoints: [`package-${index}`],
    })),
  ]);

  test.for([
    ["server.cts", undefined],
    ["server.ts", "{}"],
  ] as const)("is CommonJS if its syntax is: %s", async ([file, manifest]) => {
    const source = `
      const { WebhooksServer } = require("hub-webhooks");
      const server = new WebhooksServer();
      server.webhook("retrain", (payload: unknown) => payload);
      module.exports = server;`;
    expect(await endpointsOf({ [file]: source, ...(manifest && { "package.json": manifest }) })).toEqual(["retrain"]);
  });

  test("can be JavaScript", async () => {
    expect(await endpointsOf({ "server.mjs": withBody('server.webhook("retrain", () => {});') })).toEqual(["retrain"]);
  });

  test("can import JSON, print lines and megabytes, and send its own messages to its parent process", async () => {
    const body = `
      import names from "./names.json" with { type: "json" };
      server.webhook(names.first, () => {});
      process.on("message", () => {});
      process.send?.("hello");
      process.send?.({ type: "nonsense" });
      process.send?.({ type: "described", description: { endpoints: "none" } });
      const line = "x".repeat(9_999);
      for (let count = 0; count < 100; count += 1) console.log(line);
      for (let count = 0; count < 100; count += 1) console.error(line);
      process.stdout.write("one\\ntw");
      process.stdout.write("o\\r\\n");
      console.error("three é");
      process.stdout.write("the end");`;
    const { description, output } = await describeFiles({
      "server.ts": withBody(body),
      "names.json": JSON.stringify({ first: "retrain" }),
    });
    expect(description.endpoints.map(({ name }) => name)).toEqual(["retrain"]);
    const textsOf = (name: string) => output.filter(({ stream }) => stream === name).map(({ text }) => text);
    const long = Array<string>(100).fill("x".repeat(9_999));
    expect(textsOf("stdout")).toEqual([...long, "one", "two", "the end"]);
    expect(textsOf("stderr")).toEqual([...long, "three é"]);
  });
});
