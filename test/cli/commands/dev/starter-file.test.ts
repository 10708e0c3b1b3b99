import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { copyStarterFile } from "../../../../src/cli/commands/dev/run-dev.ts";

function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "hub-webhooks-starter-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("A starter file is written once, and a file that is there already is left alone", async () => {
  const path = join(openFolder(), "server.ts");
  await copyStarterFile(path);
  expect(readFileSync(path, "utf8")).toContain("new WebhooksServer(");
  writeFileSync(path, "// mine");
  await copyStarterFile(path);
  expect(readFileSync(path, "utf8")).toBe("// mine");
});

test("A starter file that cannot be written is refused with its path", async () => {
  const path = join(openFolder(), "missing", "server.ts");
  await expect(copyStarterFile(path)).rejects.toMatchObject({
    code: "SERVER_FILE_INVALID",
    message: expect.stringContaining(path),
  });
});
