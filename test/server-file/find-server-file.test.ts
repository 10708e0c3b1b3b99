import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { findServerFile, requireNode } from "../../src/server-file/find-server-file.ts";
import { makeProject } from "../support/project-folder.ts";

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
