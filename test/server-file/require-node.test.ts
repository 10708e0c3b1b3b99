import { describe, expect, onTestFinished, test, vi } from "vitest";
import { findServerFile } from "../../src/server-file/find.ts";
import { requireNode } from "../../src/server-file/require-node.ts";

describe("Loading a server's file", () => {
  test.each([
    ["Bun", { node: "24.3.0", bun: "1.4.5" }, "this is Bun 1.4.5"],
    ["Deno", { node: "24.2.0", deno: "2.9.6" }, "this is Deno 2.9.6"],
  ])("needs Node, and %s is not Node", (_name, versions, text) => {
    expect(() => requireNode(versions)).toThrow(
      expect.objectContaining({ code: "NODE_REQUIRED", message: expect.stringContaining(text) }),
    );
  });

  test("works on Node", () => {
    expect(() => requireNode()).not.toThrow();
  });

  test("is refused before anything else happens", () => {
    vi.stubGlobal("process", { ...process, versions: { ...process.versions, bun: "1.4.5" } });
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(() => findServerFile({ file: "missing.ts", folder: "/nowhere" })).toThrow(
      expect.objectContaining({ code: "NODE_REQUIRED" }),
    );
  });
});
