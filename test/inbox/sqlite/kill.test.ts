import { spawn } from "node:child_process";
import { once } from "node:events";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { inboxFile } from "../open-file.ts";

const script = fileURLToPath(new URL("./accepting-process.ts", import.meta.url));

/** Lets a process accept deliveries, kills it in the middle, and returns the ids that it had acknowledged. */
async function acceptUntilKilled(file: string, { after }: { after: number }): Promise<string[]> {
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, FILE: file },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    if (output.length > after) child.kill("SIGKILL");
  });
  await once(child, "close");
  return output.split("\n").slice(0, -1);
}

describe("An inbox whose process is killed", () => {
  test("has every delivery that was acknowledged, ten times in a row", { timeout: 60_000 }, async () => {
    const file = inboxFile();
    const acknowledged: string[] = [];
    for (let round = 1; round <= 10; round += 1)
      acknowledged.push(...(await acceptUntilKilled(file, { after: round * 97 })));
    const database = new DatabaseSync(file, { readOnly: true });
    const kept = new Set(
      database
        .prepare("SELECT id FROM deliveries")
        .all()
        .map(({ id }) => String(id)),
    );
    expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    database.close();
    expect(acknowledged.length).toBeGreaterThan(50);
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
  });
});
