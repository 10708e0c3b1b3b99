import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { createFolder } from "../../../support/temporary-folder.ts";
import { canMakeTerminal, startOnTerminal } from "../../command-process.ts";
import { keys, runCommand, runWithPrompts } from "../../run-command.ts";
import { startStandInHub } from "../../stand-in-hub.ts";

const toUrl = ["create", "--url", "https://example.com/hook"];

/** Creates a file that is removed after the test. */
async function temporaryFile(text: string): Promise<string> {
  const folder = createFolder();
  const path = join(folder, "job.json");
  await writeFile(path, text);
  return path;
}

describe("hub-webhooks create", () => {
  test("sends the given fields, and both domains", async () => {
    const hub = await startStandInHub();
    const { exitCode, stdout } = await runCommand([...toUrl, "--watch", "dataset:me/data"], { hub });
    expect(exitCode).toBe(0);
    expect(hub.requests).toEqual([
      {
        method: "POST",
        path: "/api/settings/webhooks",
        authorization: "Bearer hf_local",
        body: {
          url: "https://example.com/hook",
          watched: [{ type: "dataset", name: "me/data" }],
          domains: ["repo", "discussion"],
        },
      },
    ]);
    expect(stdout).toContain("\thttps://example.com/hook\tdataset:me/data\trepo,discussion\tnot set\t");
  });

  test("warns about a webhook without a secret", async () => {
    const hub = await startStandInHub();
    const watch = ["--watch", "dataset:me/data"];
    const open = await runCommand([...toUrl, ...watch, "--format", "json"], { hub });
    expect(open.stderr).toMatch(/^note: The webhook has no secret.*--secret-stdin.*WEBHOOK_SECRET/);
    expect(JSON.parse(open.stdout)).toBeDefined();
    const secret = ["--secret", "s3cret"];
    expect((await runCommand([...toUrl, ...watch, ...secret], { hub })).stderr).toBe("");
    expect((await runCommand(["create", "--job-source-id", "job-1", ...watch], { hub })).stderr).toBe("");
  });

  test("accepts several values for one --watch, and several --watch options", async () => {
    const hub = await startStandInHub();
    await runCommand([...toUrl, "--watch", "model:a", "org:b", "--watch", "bucket:c:d"], { hub });
    expect(hub.requests).toMatchObject([
      {
        body: {
          watched: [
            { type: "model", name: "a" },
            { type: "org", name: "b" },
            { type: "bucket", name: "c:d" },
          ],
        },
      },
    ]);
  });

  test("sends the given domains with the Hub's names", async () => {
    const hub = await startStandInHub();
    await runCommand([...toUrl, "--watch", "model:a", "--domain", "discussions"], { hub });
    expect(hub.requests).toMatchObject([{ body: { domains: ["discussion"] } }]);
  });

  test("can copy the job of another webhook", async () => {
    const hub = await startStandInHub();
    const { stdout } = await runCommand(["create", "--job-source-id", "job-1", "--watch", "model:a"], { hub });
    expect(hub.requests).toMatchObject([{ body: { jobSourceId: "job-1" } }]);
    expect(stdout).toContain("\tcopy of job job-1\t");
  });

  test("prints only the new id with --format quiet", async () => {
    const hub = await startStandInHub();
    const { stdout } = await runCommand([...toUrl, "--watch", "model:a", "--format", "quiet"], { hub });
    expect(stdout).toMatch(/^[0-9a-f]{24}\n$/);
  });

  test("reports an invalid request of the client as wrong usage", async () => {
    const hub = await startStandInHub();
    const { exitCode, stderr } = await runCommand(["create", "--url", "ftp://a", "--watch", "model:a"], { hub });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error: .*url/);
    expect(hub.requests).toEqual([]);
  });
});

describe("The secret of a new webhook", () => {
  test.each([
    ["--secret", [...toUrl, "--watch", "model:a", "--secret", "correct horse"], ""],
    ["standard input, up to the line end", [...toUrl, "--watch", "model:a", "--secret-stdin"], "correct horse\nnext\n"],
    ["standard input of Windows", [...toUrl, "--watch", "model:a", "--secret-stdin"], "correct horse\r\n"],
    ["standard input without a line end", [...toUrl, "--watch", "model:a", "--secret-stdin"], "correct horse"],
  ])("comes from %s, and is never printed", async (_name, argv, input) => {
    const hub = await startStandInHub();
    const { exitCode, stdout, stderr } = await runCommand(argv, { hub, input });
    expect(exitCode).toBe(0);
    expect(hub.requests).toMatchObject([{ body: { secret: "correct horse" } }]);
    expect(stdout).toContain("\tset\t");
    expect(stdout + stderr).not.toContain("horse");
  });

  test("is rejected with the name of the invalid field", async () => {
    const hub = await startStandInHub();
    const argv = [...toUrl, "--watch", "model:a", "--secret-stdin"];
    const { exitCode, stderr } = await runCommand(argv, { hub, input: "clé\n" });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/secret/);
    expect(stderr).not.toContain("clé");
    expect(hub.requests).toEqual([]);
  });

  test.runIf(canMakeTerminal)("is prompted for on a terminal, without being shown", async () => {
    const hub = await startStandInHub();
    const words = "create --url https://example.com/hook --watch model:a --secret-stdin";
    const command = startOnTerminal(words, hub);
    await command.says("Secret");
    command.stdin.write("correct horse\r");
    const { exitCode, stdout } = await command.ended;
    expect(exitCode).toBe(0);
    expect(hub.requests).toMatchObject([{ body: { secret: "correct horse" } }]);
    expect(stdout).not.toContain("horse");
  });

  test("can be canceled on a terminal, and then no webhook is created", async () => {
    const hub = await startStandInHub();
    const argv = [...toUrl, "--watch", "model:a", "--secret-stdin"];
    const { exitCode, stderr } = await runWithPrompts(argv, [["Secret", keys.interrupt]], { hub });
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining("Nothing was changed") });
    expect(hub.requests).toEqual([]);
  });

  test("is read up to the end of the first line", async () => {
    const hub = await startStandInHub();
    const input = new Readable({ read() {} });
    input.push("correct horse\n");
    const { exitCode } = await runCommand([...toUrl, "--watch", "model:a", "--secret-stdin"], { hub, input });
    expect(exitCode).toBe(0);
  });

  test.each([
    ["", "empty"],
    ["\n", "empty"],
    ["x".repeat(1_100_000), "too large. The maximum is 1 MiB"],
  ])("is refused if standard input is not a valid secret", async (input, expected) => {
    const hub = await startStandInHub();
    const argv = [...toUrl, "--watch", "model:a", "--secret-stdin"];
    const { exitCode, stderr } = await runCommand(argv, { hub, input });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(expected);
    expect(hub.requests).toEqual([]);
  });
});

describe("The job of a new webhook", () => {
  const job = {
    flavor: "cpu-basic",
    dockerImage: "python:3.12",
    command: ["python", "-c", "print(1)"],
    secrets: { API_KEY: "correct horse" },
  };

  test("comes from a file", async () => {
    const hub = await startStandInHub();
    const path = await temporaryFile(`\uFEFF${JSON.stringify(job)}`);
    const { exitCode, stdout, stderr } = await runCommand(["create", "--job", path, "--watch", "model:a"], { hub });
    expect(stderr).toBe("");
    expect(exitCode).toBe(0);
    expect(hub.requests).toMatchObject([{ body: { job } }]);
    expect(stdout).not.toContain("horse");
  });

  test("comes from standard input", async () => {
    const hub = await startStandInHub();
    const argv = ["create", "--job", "-", "--watch", "model:a"];
    expect(await runCommand(argv, { hub, input: JSON.stringify(job) })).toMatchObject({ exitCode: 0 });
    expect(hub.requests).toMatchObject([{ body: { job } }]);
  });

  test("is read as UTF-8, also if a character is split between chunks", async () => {
    const hub = await startStandInHub();
    const expected = { ...job, environment: { WORD: "clé" } };
    const bytes = Buffer.from(JSON.stringify(expected));
    const inTheLetter = bytes.indexOf("é") + 1;
    const input = Readable.from([bytes.subarray(0, inTheLetter), bytes.subarray(inTheLetter)]);
    await runCommand(["create", "--job", "-", "--watch", "model:a"], { hub, input });
    expect(hub.requests).toMatchObject([{ body: { job: expected } }]);
  });

  test.each([
    ["is not valid JSON", '{"flavor": cpu}', "is not valid JSON"],
    ["is no object", "[]", "is not a valid job: job:"],
    ["lacks its flavor", "{}", "flavor: "],
    ["has a variable of one letter", '{"flavor": "cpu-basic", "environment": {"A": "1"}}', "environment.A: "],
  ])("is refused when it %s", async (_name, input, expected) => {
    const hub = await startStandInHub();
    const { exitCode, stderr } = await runCommand(["create", "--job", "-", "--watch", "model:a"], { hub, input });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(expected);
    expect(stderr).toMatch(/^error: .*\n$/);
    expect(hub.requests).toEqual([]);
  });

  test("is sent with a flavor and a field that this release does not list, and a warning for each", async () => {
    const hub = await startStandInHub();
    const job = { flavor: "h9000", gpuType: "x", environment: {}, timeoutSeconds: null, attempts: 1 };
    const input = JSON.stringify(job);
    const { exitCode, stderr } = await runCommand(["create", "--job", "-", "--watch", "model:a"], { hub, input });
    expect(exitCode).toBe(0);
    expect(hub.requests).toMatchObject([{ body: { job } }]);
    expect(stderr).toMatch(/^warning: .*"h9000" of "job.flavor".*\nwarning: .*"job.gpuType".*\n$/);
  });
});
