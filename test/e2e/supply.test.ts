import { globSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { parse } from "yaml";
import { audit } from "../../scripts/audit.ts";
import { listenOnPort } from "../support/free-port.ts";
import { root } from "../support/project-folder.ts";
import { createFolder } from "../support/temporary-folder.ts";

interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<string, { permissions?: Record<string, string>; steps: { uses?: string; run?: string }[] }>;
}

const files = globSync(["**/.github/workflows/*.{yml,yaml}", "templates/*.yml"], {
  cwd: root,
  exclude: ["**/node_modules"],
});

describe.each(files)("%s", (file) => {
  const text = readFileSync(join(root, file), "utf8");
  const workflow: Workflow = parse(text);

  test("pins each action by commit, with its version in a comment", () => {
    const uses = text.split("\n").filter((line) => /\buses:/.test(line));
    expect(uses).not.toEqual([]);
    for (const line of uses) expect(line).toMatch(/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("runs code of the repository and of dependencies only without the permission to publish", () => {
    expect(workflow.permissions).toEqual({ contents: "read" });
    for (const { permissions, steps } of Object.values(workflow.jobs)) {
      if (permissions === undefined) continue;
      expect(permissions).toEqual({ "id-token": "write" });
      expect(steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"))).toEqual([]);
      expect(steps.filter(({ run = "" }) => /npm (?:ci|install|run)|npx/.test(run))).toEqual([]);
    }
  });
});

const lock = {
  lockfileVersion: 3,
  packages: {
    "": { dependencies: { outer: "1.0.0" } },
    "node_modules/outer": { version: "1.0.0", dependencies: { inner: "1.0.0" } },
    "node_modules/inner": { version: "1.0.0" },
  },
};
const advisory = {
  id: 1,
  url: "https://example.com/1",
  title: "Leaks",
  severity: "high",
  vulnerable_versions: "<2",
  cwe: [],
};

describe("Known advisories", { tags: "slow" }, () => {
  let folder: string;
  beforeEach(async () => {
    folder = createFolder();
    await writeFile(join(folder, "package.json"), JSON.stringify(lock.packages[""]));
    await writeFile(join(folder, "package-lock.json"), JSON.stringify(lock));
  });

  /** Starts a registry that answers requests for advisories with `answer`. */
  async function startRegistry(answer: (response: ServerResponse) => void): Promise<void> {
    const server = createServer(({ method, url = "" }, response) => {
      response.setHeader("content-type", "application/json");
      const name = url.slice(1);
      const versions = Object.fromEntries(
        ["1.0.0", "2.0.0"].map((version) => [
          version,
          { name, version, dependencies: name === "outer" ? { inner: "1.0.0" } : {} },
        ]),
      );
      if (method === "POST") answer(response);
      else response.end(JSON.stringify({ name, "dist-tags": { latest: "1.0.0" }, versions }));
    });
    vi.stubEnv("npm_config_registry", `http://127.0.0.1:${await listenOnPort(server)}/`);
    vi.stubEnv("npm_config_fetch_retries", "0");
    onTestFinished(() => {
      vi.unstubAllEnvs();
      server.close();
    });
  }

  test("A known advisory is reported once, for the package that it is about", async () => {
    await startRegistry((response) => response.end(JSON.stringify({ inner: [advisory] })));
    expect(await audit(folder)).toEqual({
      advisories: [{ path: "node_modules/inner", text: "high: Leaks (https://example.com/1)" }],
    });
  });

  test("An answer without advisories is no missing answer", async () => {
    await startRegistry((response) => response.end("{}"));
    expect(await audit(folder)).toEqual({ advisories: [] });
  });

  test.each([
    [
      "does not offer advisories",
      (response: ServerResponse) => response.writeHead(405).end("{}"),
      /405 Method Not Allowed/,
    ],
    ["fails", (response: ServerResponse) => response.writeHead(500).end("{}"), /500 Internal Server Error/],
    ["sends a page instead of advisories", (response: ServerResponse) => response.end("<html>"), /invalid json/],
    ["closes the connection", (response: ServerResponse) => response.destroy(), /socket hang up/],
  ])("A registry that %s counts as one without an answer", async (_what, answer, reason) => {
    await startRegistry(answer);
    expect(await audit(folder)).toEqual({ unanswered: expect.stringMatching(reason) });
  });

  test("A folder that npm cannot check is no missing answer", async () => {
    await startRegistry((response) => response.end("{}"));
    await rm(join(folder, "package-lock.json"));
    await expect(audit(folder)).rejects.toThrow("ENOLOCK");
  });
});
