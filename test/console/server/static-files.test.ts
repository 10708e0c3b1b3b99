import files from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { StaticFiles } from "../../../src/console/server/console.ts";
import { codeOf, openTestConsole } from "./open-test-console.ts";

const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);

describe("The files of the app", () => {
  test("are found by their path, with their type", async () => {
    const files = new StaticFiles();
    const page = await files.get("index.html");
    expect(page?.mediaType).toBe("text/html; charset=utf-8");
    const assets = [...text(page?.bytes).matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, path = ""]) => path);
    expect(assets.length).toBeGreaterThan(1);
    const types = await Promise.all(assets.map(async (path) => (await files.get(path))?.mediaType));
    expect(new Set(types)).toEqual(new Set(["text/javascript; charset=utf-8", "text/css; charset=utf-8"]));
  });

  test.each([
    ...["", "index", "/index.html", "assets", "assets/", "assets/../index.html", "../../package.json"],
    ...["assets/..", "assets/%2e%2e/index.html", "__proto__", "constructor"],
  ])("do not include %j", async (path) => {
    expect(await new StaticFiles().get(path)).toBeUndefined();
  });

  test("have a page without inline scripts and styles, whose addresses are relative", async () => {
    const html = text((await new StaticFiles().get("index.html"))?.bytes);
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=/i);
    for (const [, address] of html.matchAll(/(?:src|href)="([^"]*)"/g)) expect(address).toMatch(/^(?:\.\/|data:)/);
  });

  test("are read again after they could not be read", async () => {
    const readdir = vi.spyOn(files, "readdir").mockRejectedValueOnce(new Error("EMFILE"));
    syncBuiltinESMExports();
    onTestFinished(() => {
      readdir.mockRestore();
      syncBuiltinESMExports();
    });
    const { send, errors } = openTestConsole();
    expect(await codeOf(await send(""))).toEqual([503, "CONSOLE_NOT_BUILT"]);
    expect(errors).toMatchObject([{ cause: { message: "EMFILE" } }]);
    expect((await send("")).status).toBe(200);
  });

  test("are served with the bytes of the build, and cached by their name", async () => {
    const { send } = openTestConsole();
    const html = await (await send("")).text();
    const [, asset = ""] = /src="\.\/(assets\/[^"]+\.js)"/.exec(html) ?? [];
    const response = await send(asset);
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(await response.text()).toBe(text((await new StaticFiles().get(asset))?.bytes));
  });
});
