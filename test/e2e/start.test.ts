import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { runProgram, startProgram } from "../../scripts/dockerfile/program.ts";
import { freePort } from "./free-port.ts";
import { root } from "./root.ts";

const start = [process.execPath, "examples/hello/start.ts"];
const environment = { PATH: process.env.PATH, PORT: "0" };

describe("npm start", () => {
  test("answers a delivery of every documented scope and ends with 0", async () => {
    const { code, output } = await runProgram([...start, "--once"], { cwd: root, env: environment });
    expect(code, output).toBe(0);
    const lines = output.match(/^ {2}(?:repo|discussion).* {2}POST \/webhooks\/\S+ +200 {2}\{.*\}$/gm) ?? [];
    expect(lines.map((line) => line.trim().split(/ {2,}/)[0])).toEqual([
      "repo",
      "repo.content",
      "repo.config",
      "discussion",
      "discussion.comment",
      "repo.content (bucket)",
    ]);
    expect(output).toContain("Without the secret it answers 401");
  });

  test("stays up with its page, and ends with 0 when told to", async () => {
    const { child, ended, output } = startProgram(start, { cwd: root, env: environment });
    await expect.poll(output, { timeout: 10_000 }).toContain("The server stays up");
    const [address = ""] = /http:\S+$/m.exec(output().slice(output().indexOf("stays up"))) ?? [];
    const page = await fetch(address);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("/webhooks/on_change");
    child.kill("SIGINT");
    expect((await ended).code).toBe(0);
  });

  test("says in one line that the port is taken, and ends with 1", async () => {
    const port = await freePort();
    const squatter = createServer().listen(port, "127.0.0.1");
    await once(squatter, "listening");
    const { code, output } = await runProgram(start, { cwd: root, env: { ...environment, PORT: String(port) } });
    squatter.close();
    expect(code).toBe(1);
    expect(output.trim().split("\n")).toEqual([expect.stringContaining(`Port ${port} on 127.0.0.1 is taken`)]);
  });
});
