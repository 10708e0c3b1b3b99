// @module-tag slow

import { describe, expect, test } from "vitest";
import { describeFiles } from "./describe-files.ts";

const head = 'import { WebhooksServer } from "hub-webhooks";\nconst server = new WebhooksServer();\n';

describe.concurrent("The server of a file", () => {
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
