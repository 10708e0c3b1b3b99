import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findServerFile } from "../../src/server-file/server-file.ts";
import { makeProject } from "../support/project-folder.ts";

describe("The file of a server", () => {
  test.for(["server.ts", "server.mjs", "src/server.ts", "app.ts", "src/app.mts", "index.ts", "src/index.js"])(
    "is found as %s",
    async (name) => {
      await using project = await makeProject({ [name]: "" });
      expect(findServerFile({ folder: project.path })).toBe(join(project.path, name));
    },
  );

  test("is the first of several usual ones", async () => {
    await using project = await makeProject({ "index.ts": "", "src/app.ts": "", "app.ts": "", "src/server.js": "" });
    expect(findServerFile({ folder: project.path })).toBe(join(project.path, "src/server.js"));
    await project.write("server.js", "");
    expect(findServerFile({ folder: project.path })).toBe(join(project.path, "server.js"));
    await project.write("server.ts", "");
    expect(findServerFile({ folder: project.path })).toBe(join(project.path, "server.ts"));
  });

  test("is no folder of that name", async () => {
    await using project = await makeProject({ "server.ts/readme.md": "", "app.ts": "" });
    expect(findServerFile({ folder: project.path })).toBe(join(project.path, "app.ts"));
  });

  test("is the one that is named, relative to the folder or absolute", async () => {
    await using project = await makeProject({ "server.ts": "", "bots/retrain.ts": "" });
    const path = join(project.path, "bots/retrain.ts");
    expect(findServerFile({ file: "bots/retrain.ts", folder: project.path })).toBe(path);
    expect(findServerFile({ file: path, folder: "/" })).toBe(path);
  });

  test("is asked for where there is none", async () => {
    await using project = await makeProject({ "readme.md": "" });
    expect(() => findServerFile({ folder: project.path })).toThrow(
      expect.objectContaining({
        code: "SERVER_FILE_INVALID",
        message: expect.stringMatching(/no server\.ts, app\.ts or index\.ts.*hub-webhooks dev bot\.ts.*--create/),
      }),
    );
  });

  test.for([
    ["bot.ts", "There is no file bot.ts: give the one that makes the server, or write it first."],
    ["bots", "bots is no file: give the file that makes the server, such as server.ts."],
  ])("is not taken for another one where %s was named", async ([file, message]) => {
    await using project = await makeProject({ "server.ts": "", "bots/retrain.ts": "" });
    expect(() => findServerFile({ file, folder: project.path })).toThrow(
      expect.objectContaining({ code: "SERVER_FILE_INVALID", message }),
    );
  });
});
