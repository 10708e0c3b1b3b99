import { type ExecFileException, execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LocalHub } from "../../src/local-hub.ts";

/*
 * Tests Python's client with the local Hub: the `hf` command that HF_CLI names, or with SLOW_TESTS=1 the one on the
 * PATH. Uses the example commands in its help, which differ between versions.
 */

const hf = process.env.HF_CLI ?? "hf";
const isWanted = process.env.HF_CLI !== undefined || process.env.SLOW_TESTS === "1";
/** Python takes seconds to start on a busy machine. */
const timeout = 300_000;
const home = mkdtempSync(join(tmpdir(), "python-client-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

interface Ran {
  code: ExecFileException["code"];
  stdout: string;
  stderr: string;
}

function run(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const { PATH = "" } = process.env;
  const settings = { PATH, HOME: home, NO_COLOR: "1", HF_HUB_DISABLE_TELEMETRY: "1", ...env };
  return new Promise((resolve) => {
    execFile(hf, args, { env: settings }, (error, stdout, stderr) => {
      resolve({ code: error ? error.code : 0, stdout, stderr });
    });
  });
}

const isThere = isWanted && (await run(["--version"])).code === 0;
if (!isThere)
  console.warn("Skipped Python's client. Set HF_CLI to the hf command, or SLOW_TESTS=1 if hf is on the PATH.");

/** Returns the arguments of each example in a command's help. The help wraps long examples at spaces and hyphens. */
async function examplesOf(...command: string[]): Promise<string[][]> {
  const { stdout } = await run([...command, "--help"]);
  const [, section = ""] = /^Examples\n((?: {2}.*\n)+)/m.exec(stdout) ?? [];
  const text = section.replace(/-\n {2}(?!\$)/g, "-").replace(/\n {2}(?!\$)/g, " ");
  return [...text.matchAll(/^ {2}\$ hf (.+)$/gm)].map(([, line = ""]) => line.split(/\s+/));
}

describe.runIf(isThere)("The Python client with the local Hub", { timeout }, () => {
  let hub: LocalHub;
  beforeAll(async () => {
    hub = await LocalHub.launch({ attempts: 1 });
    return () => hub.close();
  });

  const ask = (...args: string[]) => run(args, { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_local" });

  test("reads the account of the token", async () => {
    for (const example of await examplesOf("auth", "whoami")) {
      const { code, stdout, stderr } = await ask(...example);
      expect(code, `${example.join(" ")}: ${stderr}`).toBe(0);
      expect(stdout).toMatch(/local-user[\s\S]*acme/);
    }
    expect((await run(["auth", "whoami"], { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_nobody" })).code).not.toBe(0);
  });

  test("lists the hardware for jobs", async () => {
    for (const example of await examplesOf("jobs", "hardware")) {
      const { code, stdout, stderr } = await ask(...example, "--format", "json");
      expect(code, `${example.join(" ")}: ${stderr}`).toBe(0);
      expect(stdout).toContain("rtx-pro-6000x8");
    }
  });

  test("runs the webhook examples of its help", async () => {
    const commands = ["create", "list", "info", "update", "disable", "enable", "delete"];
    const examples = (await Promise.all(commands.map((command) => examplesOf("webhooks", command)))).flat();
    expect(examples.length).toBeGreaterThanOrEqual(13);
    let id = await createdId();
    for (const example of examples) {
      // Replace the example's ID, which does not exist, and skip the confirmation of a deletion.
      const args = example.map((part) => (part === "abc123" ? id : part));
      if (example.includes("delete") && !example.includes("--yes")) args.push("--yes");
      const { code, stdout, stderr } = await ask(...args);
      expect(code, `${example.join(" ")}: ${stdout}${stderr}`).toBe(0);
      if (example.includes("delete")) id = await createdId();
    }
  });

  test("updates only the given fields of a webhook, and the secret", async () => {
    const id = await createdId();
    await ask("webhooks", "update", id, "--watch", "model:gpt2", "--domain", "repo");
    expect(await infoOf(id)).toMatchObject({
      url: "https://example.com/hook",
      watched: [{ type: "model", name: "gpt2" }],
      domains: ["repo"],
    });
    await ask("webhooks", "update", id, "--url", "https://new-url.com/hook");
    expect(await infoOf(id)).toMatchObject({ url: "https://new-url.com/hook", watched: [{ name: "gpt2" }] });
    const { stderr } = await ask("webhooks", "update", id, "--secret", "newsecret");
    expect(stderr).toContain('"domains" is missing');
    expect(await infoOf(id)).toMatchObject({ url: "https://new-url.com/hook", secret: "newsecret" });
  });

  async function createdId(): Promise<string> {
    const options = ["--url", "https://example.com/hook", "--watch", "org:HuggingFace", "--domain", "discussions"];
    const { stdout, stderr } = await ask("webhooks", "create", ...options);
    const [id] = /[0-9a-f]{24}/.exec(stdout) ?? [];
    if (id === undefined) throw new Error(`hf created no webhook: ${stdout}${stderr}`);
    return id;
  }

  async function infoOf(id: string): Promise<unknown> {
    return JSON.parse((await ask("webhooks", "info", id, "--format", "json")).stdout);
  }
});
