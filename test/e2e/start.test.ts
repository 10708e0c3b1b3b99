// @module-tag slow

import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { freePort } from "../support/free-port.ts";
import { processEnvironment, runProgram, startProgram } from "../support/program.ts";
import { root } from "../support/project-folder.ts";

const start = [process.execPath, "examples/hello/start.ts"];
const environment = { ...processEnvironment, PORT: "0" };

describe("npm start", () => {
  test("sends an event of every documented scope, shows the comments of the bot, and exits with 0", async () => {
    const { code, output } = await runProgram([...start, "--once"], { cwd: root, env: environment });
    expect(code, output).toBe(0);
    expect(output).toContain("with 6 webhooks");
    expect(output.match(/^\S+ · \w+ on .*$/gm)).toEqual([
      "repo · create on dataset acme/data",
      "repo.content · update on dataset acme/data",
      "repo.config · update on dataset acme/data",
      "discussion · create on dataset acme/data",
      "discussion.comment · create on dataset acme/data",
      "repo.content · update on bucket acme/files",
    ]);
    const deliveries = output.match(/^ {2}→ POST \/webhooks\/.*$/gm) ?? [];
    expect(deliveries).toHaveLength(15);
    expect(deliveries.filter((line) => / {2}200 {2}\{.*\}$/.test(line))).toEqual(deliveries);
    expect(output.split("\n").filter((line) => / commit | discussion #|^ {6}/.test(line))).toEqual([
      '  commit "Add a card"',
      '  → discussion #1 "Card review"  open',
      "      Please add a license to the card.",
      '  commit "Add a license"',
      '  → discussion #1 "Card review"  closed',
      "      The card has a license. Thank you!",
    ]);
    expect(output).toContain("Without the secret, the receiver answers 401");
  });

  test("keeps running, serves the pages of the server and the local Hub, and exits with 0 when stopped", async () => {
    const { child, ended, output } = startProgram(start, { cwd: root, env: environment });
    onTestFinished(() => void child.kill("SIGKILL"));
    await expect.poll(output).toContain("Press Ctrl+C to stop");
    const addressAfter = (label: string) => new RegExp(`${label}: (http:\\S+)$`, "m").exec(output())?.[1] ?? "";
    const console = await fetch(addressAfter("Console of the local Hub \\(this link is valid once\\)"));
    expect([console.status, await console.text()]).toEqual([200, expect.stringContaining('<div id="app">')]);
    const page = await fetch(addressAfter("Page of the receiver"));
    expect([page.status, (await page.text()).replaceAll(/<[^>]*>/g, "")]).toEqual([
      200,
      expect.stringContaining("/webhooks/on_change"),
    ]);
    child.kill("SIGINT");
    expect((await ended).code).toBe(0);
  });

  test("reports a port in use on one line, and exits with 1", async () => {
    const port = await freePort();
    const squatter = createServer().listen(port, "127.0.0.1");
    await once(squatter, "listening");
    const { code, output } = await runProgram(start, { cwd: root, env: { ...environment, PORT: String(port) } });
    squatter.close();
    expect(code).toBe(1);
    expect(output.trim().split("\n")).toEqual([expect.stringContaining(`Port ${port} on 127.0.0.1 is in use`)]);
  });
});
