import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyStarterFile } from "../../../../src/cli/commands/dev/run-dev.ts";
import { createFolder } from "../../../support/temporary-folder.ts";

test("A starter file does not overwrite an existing file", async () => {
  const path = join(createFolder(), "server.ts");
  await copyStarterFile(path);
  expect(readFileSync(path, "utf8")).toContain("new WebhooksServer(");
  writeFileSync(path, "// mine");
  await copyStarterFile(path);
  expect(readFileSync(path, "utf8")).toBe("// mine");
});

test("A starter file that cannot be written is refused with its path", async () => {
  const path = join(createFolder(), "missing", "server.ts");
  await expect(copyStarterFile(path)).rejects.toMatchObject({
    code: "SERVER_FILE_INVALID",
    message: expect.stringContaining(path),
  });
});
