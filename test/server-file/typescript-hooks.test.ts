import { describe, expect, test } from "vitest";
import { describeFiles, endpointsOf } from "./describe-files.ts";

const head = 'import { WebhooksServer } from "hub-webhooks";\nexport const server = new WebhooksServer();\n';
const foot = "\nexport default server;\n";

/** Returns the source of a server file whose `body` registers an endpoint. */
const withBody = (body: string) => `${head}${body}${foot}`;

describe.concurrent("A server file", () => {
  test("can use decorators", async () => {
    const body = `
      class Bot {
        @server.webhook("retrain", { watch: "dataset:me/data" })
        retrain(): void {}
      }
      new Bot();`;
    expect(await endpointsOf({ "server.ts": withBody(body) })).toEqual(["retrain"]);
  });

  test("can use decorators in the middle of a line", async () => {
    const body = 'class Bot { @server.webhook("retrain") retrain(): void {} }\nnew Bot();';
    expect(await endpointsOf({ "server.ts": withBody(body) })).toEqual(["retrain"]);
  });

  test("can use standard decorators, even if tsconfig.json enables legacy ones", async () => {
    const body = 'class Bot {\n  @server.webhook("retrain")\n  retrain(): void {}\n}\nnew Bot();';
    const tsconfig = JSON.stringify({ compilerOptions: { experimentalDecorators: true } });
    expect(await endpointsOf({ "server.ts": withBody(body), "tsconfig.json": tsconfig })).toEqual(["retrain"]);
  });

  test("can use enums, namespaces and parameter properties", async () => {
    const body = `
      enum Kind { Retrain = "retrain" }
      const enum Fixed { Second = "second" }
      namespace Names { export const third = "third"; }
      namespace Deep.Names { export const fifth = "fifth"; }
      class Named { constructor(public readonly name: string) {} }
      for (const name of [Kind.Retrain, Fixed.Second, Names.third, new Named("fourth").name, Deep.Names.fifth]) {
        server.webhook(name, () => {});
      }`;
    expect(await endpointsOf({ "server.ts": withBody(body) })).toEqual([
      ...["retrain", "second", "third", "fourth", "fifth"],
    ]);
  });

  test.for([
    ["an enum", 'enum Names { first = "first" }\nserver.webhook(Names.first, () => {});'],
    ["a dotted namespace", 'namespace A.B { export const name = "first"; }\nserver.webhook(A.B.name, () => {});'],
    [
      "a parameter property",
      'class Named { constructor(private readonly name = "first") {} tell() { return this.name; } }\nserver.webhook(new Named().tell(), () => {});',
    ],
  ])("can use only %s", async ([, body]) => {
    expect(await endpointsOf({ "server.ts": withBody(body ?? "") })).toEqual(["first"]);
  });

  test("can be TSX or import TSX", async () => {
    const files = {
      "server.ts": withBody('import { element } from "./view.tsx";\nserver.webhook(element.type, () => {});'),
      "view.tsx": "/** @jsxImportSource ./made */\nexport const element = <retrain />;",
      "made/jsx-runtime.js": "",
      "node_modules/made/package.json": JSON.stringify({ name: "made", exports: { "./jsx-runtime": "./jsx.mjs" } }),
      "node_modules/made/jsx.mjs": "export const jsx = (type) => ({ type });",
    };
    const view = files["view.tsx"].replace("./made", "made");
    expect(await endpointsOf({ ...files, "view.tsx": view })).toEqual(["retrain"]);
  });

  test("can import ./x.ts as ./x.js, and ./x.mts as ./x.mjs", async () => {
    const files = {
      "server.ts": withBody(
        'import { first } from "./lib/first.js";\nimport { second } from "./second.mjs";\nserver.webhook(first, () => {});\nserver.webhook(second, () => {});',
      ),
      "lib/first.ts": 'import { name } from "../name.js";\nexport const first: string = name;',
      "second.mts": 'export const second: string = "second";',
      "name.js": 'export const name = "from-javascript";',
      "name.ts": 'export const name: string = "from-typescript";',
    };
    // A file that exists with the imported name takes precedence.
    expect(await endpointsOf(files)).toEqual(["from-javascript", "second"]);
  });

  test.for([
    ["without package.json", undefined],
    ["without a type", {}],
    ["of type module", { type: "module" }],
    ["of type commonjs", { type: "commonjs" }],
  ] as const)("is a module in a package %s, and no warning is printed", async ([, fields]) => {
    const files = {
      "server.ts": withBody('import { name } from "./name.ts";\nserver.webhook(name, () => {});'),
      "name.ts": 'export const name: string = "retrain";',
      ...(fields && { "package.json": JSON.stringify({ name: "bot", ...fields }) }),
    };
    const { description, output } = await describeFiles(files);
    expect(description.endpoints.map(({ name }) => name)).toEqual(["retrain"]);
    expect(output).toEqual([]);
  });

  test("is CommonJS if its syntax is", async () => {
    const source = `
      const { WebhooksServer } = require("hub-webhooks");
      const server = new WebhooksServer();
      server.webhook("retrain", (payload: unknown) => payload);
      module.exports = server;`;
    expect(await endpointsOf({ "server.cts": source })).toEqual(["retrain"]);
    expect(await endpointsOf({ "server.ts": source, "package.json": "{}" })).toEqual(["retrain"]);
  });

  test("can be JavaScript", async () => {
    expect(await endpointsOf({ "server.mjs": withBody('server.webhook("retrain", () => {});') })).toEqual(["retrain"]);
  });

  test("can use top-level await", async () => {
    const body =
      'const name = await new Promise<string>((resolve) => setImmediate(() => resolve("late")));\nserver.webhook(name, () => {});';
    expect(await endpointsOf({ "server.ts": withBody(body) })).toEqual(["late"]);
  });

  test("can import JSON, and its output is passed on line by line", async () => {
    const body = `
      import names from "./names.json" with { type: "json" };
      server.webhook(names.first, () => {});
      process.stdout.write("one\\ntw");
      process.stdout.write("o\\r\\n");
      console.error("three é");
      process.stdout.write("the end");`;
    const { description, output } = await describeFiles({
      "server.ts": withBody(body),
      "names.json": JSON.stringify({ first: "retrain" }),
    });
    expect(description.endpoints.map(({ name }) => name)).toEqual(["retrain"]);
    expect(output.filter(({ stream }) => stream === "stdout").map(({ text }) => text)).toEqual([
      ...["one", "two", "the end"],
    ]);
    expect(output.filter(({ stream }) => stream === "stderr").map(({ text }) => text)).toEqual(["three é"]);
  });

  test("can print megabytes of output", async () => {
    const body = `
      server.webhook("retrain", () => {});
      const line = "x".repeat(9_999);
      for (let count = 0; count < 500; count += 1) console.log(line);
      for (let count = 0; count < 100; count += 1) console.error(line);`;
    const { output } = await describeFiles({ "server.ts": withBody(body) });
    expect(output.filter(({ stream, text }) => stream === "stdout" && text.length === 9_999)).toHaveLength(500);
    expect(output.filter(({ stream, text }) => stream === "stderr" && text.length === 9_999)).toHaveLength(100);
  });

  test("can send its own messages to its parent process", async () => {
    const body = `
      server.webhook("retrain", () => {});
      process.on("message", () => {});
      process.send?.("hello");
      process.send?.({ type: "nonsense" });
      process.send?.({ type: "described", description: { endpoints: "none" } });`;
    expect(await endpointsOf({ "server.ts": withBody(body) })).toEqual(["retrain"]);
  });
});
