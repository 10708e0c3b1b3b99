import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { findServerFile, requireNode } from "../../src/server-file/find-server-file.ts";
import { makeProject } from "../support/project-folder.ts";
import { describeFiles } from "./describe-files.ts";

const head = 'import { WebhooksServer } from "hub-webhooks";\nconst server = new WebhooksServer();\n';

describe.concurrent("The server of a file", { tags: "slow" }, () => {
  test("is described by its endpoints and its secret", async () => {
    const { description } = await describeFiles({
      "server.ts": `
        import { WebhooksServer } from "hub-webhooks";
        const server = new WebhooksServer({ secret: ["the first", "the second"] });
        server.webhook("plain", () => {});
        server.webhook("all", { watch: ["dataset:me/data", "org:acme"], domains: ["discussion"], repo: ["dataset:me/*", "model:acme/x"], scope: ["discussion.comment"], background: true }, () => {});
        export default server;`,
    });
    expect(description).toEqual({
      secret: "the first",
      endpoints: [
        {
          name: "plain",
          watch: [],
          domains: ["repo", "discussion"],
          repos: [],
          scopes: [],
          ...{ actions: [], refs: [], paths: [], ignoreSelf: false },
          background: false,
          warnings: [],
        },
        {
          name: "all",
          watch: [
            { type: "dataset", name: "me/data" },
            { type: "org", name: "acme" },
          ],
          domains: ["discussion"],
          repos: ["dataset:me/*", "model:acme/x"],
          scopes: ["discussion.comment"],
          ...{ actions: [], refs: [], paths: [], ignoreSelf: false },
          background: true,
          warnings: [],
        },
      ],
    });
  });

  test("is the default export, even if the file launches another one, from a path with special characters", async () => {
    const source = `${head}
      server.webhook("meant", () => {});
      await new WebhooksServer().launch();
      await new WebhooksServer().launch();
      export default server;`;
    const { description } = await describeFiles({ "my bots/übung #1.ts": source });
    expect(description.endpoints.map(({ name }) => name)).toEqual(["meant"]);
  });

  test("is the default export of a file that was compiled to CommonJS", async () => {
    const source = `
      exports.__esModule = true;
      const { WebhooksServer } = require("hub-webhooks");
      exports.default = new WebhooksServer();
      exports.default.webhook("meant", () => {});`;
    const { description } = await describeFiles({ "server.cjs": source });
    expect(description.endpoints.map(({ name }) => name)).toEqual(["meant"]);
  });

  test("is the server that the file launches: it does not listen, and launch() returns its future URL", async () => {
    const source = `${head}
      server.webhook("meant", () => {});
      console.log(JSON.stringify(await server.launch({ port: 1, tunnel: true, publicUrl: "no address" })));
      console.log(JSON.stringify(process.getActiveResourcesInfo().filter((name) => name.startsWith("TCP"))));`;
    const { description, output } = await describeFiles({ "server.ts": source });
    expect(description.endpoints.map(({ name }) => name)).toEqual(["meant"]);
    expect(output.map(({ text: line }) => JSON.parse(line))).toEqual([
      { port: 7860, url: "http://localhost:7860", publicUrl: "http://localhost:7860" },
      [],
    ]);
  });

  test("is the default server of webhookEndpoint", async () => {
    const source = 'import { webhookEndpoint } from "hub-webhooks";\nwebhookEndpoint("meant", () => {});';
    const { description, output } = await describeFiles({ "server.ts": source });
    expect(description.endpoints.map(({ name }) => name)).toEqual(["meant"]);
    expect(output).toEqual([]);
  });
});

describe("findServerFile", () => {
  test.for(["server.ts", "server.mjs", "src/server.ts", "app.ts", "src/app.mts", "index.ts", "src/index.js"])(
    "finds %s",
    async (name) => {
      await using project = await makeProject({ [name]: "" });
      expect(findServerFile({ folder: project.path })).toBe(join(project.path, name));
    },
  );

  test("prefers server over app over index, and TypeScript over JavaScript", async () => {
    await using project = await makeProject({ "index.ts": "", "src/app.ts": "", "app.ts": "", "src/server.js": "" });
    expect(findServerFile({ folder: project.path })).toBe(join(project.path, "src/server.js"));
    await project.write("server.js", "");
    expect(findServerFile({ folder: project.path })).toBe(join(project.path, "server.js"));
    await project.write("server.ts", "");
    expect(findServerFile({ folder: project.path })).toBe(join(project.path, "server.ts"));
  });

  test("skips a folder with such a name", async () => {
    await using project = await makeProject({ "server.ts/readme.md": "", "app.ts": "" });
    expect(findServerFile({ folder: project.path })).toBe(join(project.path, "app.ts"));
  });

  test("resolves the given file, relative to the folder or absolute", async () => {
    await using project = await makeProject({ "server.ts": "", "bots/retrain.ts": "" });
    const path = join(project.path, "bots/retrain.ts");
    expect(findServerFile({ file: "bots/retrain.ts", folder: project.path })).toBe(path);
    expect(findServerFile({ file: path, folder: "/" })).toBe(path);
  });

  test("throws an error with useful commands if there is none", async () => {
    await using project = await makeProject({ "readme.md": "" });
    expect(() => findServerFile({ folder: project.path })).toThrow(
      expect.objectContaining({
        code: "SERVER_FILE_INVALID",
        message: expect.stringMatching(/^No server\.ts, app\.ts, or index\.ts.*npx hub-webhooks dev bot\.ts.*--create/),
      }),
    );
  });

  test.for([
    ["bot.ts", 'File "bot.ts" does not exist. Create it, or specify the file that creates the server.'],
    ["bots", '"bots" is not a file. Specify the file that creates the server, such as server.ts.'],
  ])("never replaces the given %s with another file", async ([file, message]) => {
    await using project = await makeProject({ "server.ts": "", "bots/retrain.ts": "" });
    expect(() => findServerFile({ file, folder: project.path })).toThrow(
      expect.objectContaining({ code: "SERVER_FILE_INVALID", message }),
    );
  });
});

describe("requireNode", () => {
  test.each([
    ["Bun", { node: "24.3.0", bun: "1.4.5" }, "running on Bun 1.4.5"],
    ["Deno", { node: "24.2.0", deno: "2.9.6" }, "running on Deno 2.9.6"],
  ])("rejects %s", (_name, versions, text) => {
    expect(() => requireNode(versions)).toThrow(
      expect.objectContaining({ code: "NODE_REQUIRED", message: expect.stringContaining(text) }),
    );
  });

  test("accepts Node", () => {
    expect(() => requireNode()).not.toThrow();
  });

  test("runs before findServerFile looks for a file", () => {
    vi.stubGlobal("process", { ...process, versions: { ...process.versions, bun: "1.4.5" } });
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(() => findServerFile({ file: "missing.ts", folder: "/nowhere" })).toThrow(
      expect.objectContaining({ code: "NODE_REQUIRED" }),
    );
  });
});
