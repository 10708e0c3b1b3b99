// @module-tag slow

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { HubClient } from "../../src/client.ts";
import type { CheckResult } from "../../src/console/protocol/checks.ts";
import { type DeployEvent, deploy } from "../../src/deploy/deploy.ts";
import { type DoctorOptions, runDoctor } from "../../src/doctor/doctor.ts";
import { LocalHub } from "../../src/local-hub.ts";
import { explain } from "../../src/receiver/checks/checks.ts";
import type { ServerDescription } from "../../src/receiver/control.ts";
import { describeServerFile } from "../../src/server-file/server-process.ts";
import { root } from "../support/project-folder.ts";

const space = "local-user/bot";
const files = {
  Dockerfile: 'FROM node:24-slim\nWORKDIR /app\nCOPY . .\nCMD ["node", "start.ts"]\n',
  "README.md": "---\nsdk: docker\n---\n",
  "server.ts": `
import { WebhooksServer } from ${JSON.stringify(join(root, "dist/index.js"))};
const server = new WebhooksServer();
server.webhook("retrain", { watch: "dataset:local-user/data", background: true }, () => "done");
export default server;
`,
  "start.ts": 'import server from "./server.ts";\nawait server.launch();\n',
  ".env": "WEBHOOK_SECRET=Planted-5ecret-60ad2c\nCONSOLE_TOKEN=Planted-console-t0ken\n",
};

let hub: LocalHub;
let client: HubClient;
let options: DoctorOptions;
let deployed: DeployEvent[];

beforeAll(async () => {
  hub = await LocalHub.launch({ runSpaces: true, attempts: 1 });
  client = new HubClient({ hubUrl: hub.url, token: "hf_local", attempts: 1 });
  const folder = await mkdtemp(join(tmpdir(), "hub-webhooks-doctor-"));
  for (const [path, content] of Object.entries(files)) await writeFile(join(folder, path), content);
  const server: ServerDescription = await describeServerFile(join(folder, "server.ts"));
  const answers = { confirm: async () => true, askFor: async () => undefined };
  const shared = { client, space, pollMs: 10, describe: async () => server };
  deployed = await collect(deploy({ ...shared, ...answers, folder }));
  const [secret, consoleToken] = ["Planted-5ecret-60ad2c", "Planted-console-t0ken"];
  const state = join(folder, ".hub-webhooks/registrations.json");
  options = { ...shared, secret, consoleToken, state, version: "0.0.1" };
  return async () => {
    await hub.close();
    await rm(folder, { recursive: true });
  };
});

async function call(method: "PUT" | "POST", path: string, body: object = {}): Promise<void> {
  const headers = { authorization: "Bearer hf_local", "content-type": "application/json" };
  const response = await fetch(hub.url + path, { method, headers, body: JSON.stringify(body) });
  expect(response.status).toBe(200);
}

const findings = (results: readonly CheckResult[], status: CheckResult["status"] = "problem") =>
  results.flatMap(({ code, status: found }) => (found === status && code !== "INBOX_NOT_DURABLE" ? [code] : []));

const examine = (changes: Partial<DoctorOptions> = {}) => collect(runDoctor({ ...options, ...changes }));

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** A client that sees the Space in a stage. */
function clientInStage(stage: string): HubClient {
  return new HubClient({
    ...{ hubUrl: hub.url, token: "hf_local" },
    async fetch(input, init) {
      const response = await fetch(input, init);
      if (!String(input).endsWith("/runtime")) return response;
      return Response.json({ ...(await response.json()), stage });
    },
  });
}

test("Commands that need the secret of the server work as printed: sync does not read .env", () => {
  const values = { space, url: "https://bot.example" };
  for (const code of ["WEBHOOK_MISSING", "WEBHOOK_DIFFERS", "WEBHOOK_SECRET_DIFFERS"] as const) {
    expect(explain({ code, values }).command).toBe(`npx hub-webhooks doctor --space ${space} --fix`);
  }
  const { command } = explain({ code: "WEBHOOK_SECRET_DIFFERS", values: { url: values.url } });
  expect(command).toBe("env WEBHOOK_SECRET=SECRET npx hub-webhooks sync --public-url https://bot.example --adopt");
});

test("A deployment ends with the findings of the doctor, and a summary", () => {
  expect(deployed).toContainEqual({
    step: "inbox",
    status: "warning",
    message: expect.stringContaining("each restart"),
  });
  expect(deployed.slice(-3)).toEqual([
    { step: "delivery", status: "done", message: expect.stringContaining("without running its handler") },
    {
      step: "doctor",
      status: "warning",
      message: expect.stringMatching(/^INBOX_NOT_DURABLE: .+ npx hub-webhooks deploy/),
    },
    { step: "doctor", status: "warning", message: "13 passed, 0 fixed, 0 skipped, 1 problem" },
  ]);
  expect(JSON.stringify(deployed)).not.toContain("Planted");
});

describe("The doctor of a Space", () => {
  test("finds that its disk does not keep the inbox, and nothing else", async () => {
    const results = await examine();
    expect(results.flatMap(({ code }) => code ?? [])).toEqual(["INBOX_NOT_DURABLE"]);
    expect(results.at(-2)).toMatchObject({ command: `npx hub-webhooks deploy ${space} --inbox bucket` });
  });

  test.each([
    ["SPACE_PRIVATE", "private", () => call("PUT", `/api/spaces/${space}/settings`, { private: true })],
    ["SPACE_ASLEEP", "asleep", () => hub.sleepSpace(space)],
    ["SPACE_STOPPED", "paused", () => call("POST", `/api/spaces/${space}/pause`)],
  ])("finds %s, and repairs a Space that is %s", async (code, _what, breakIt) => {
    await breakIt();
    const results = await examine();
    expect(findings(results)).toEqual([code]);
    expect(results.filter(({ status }) => status === "skipped").map(({ check }) => check)).toContain("address");
    expect(findings(await examine({ confirm: async () => false }))).toEqual([code]);
    const fixed = await examine({ confirm: async () => true });
    expect([findings(fixed, "fixed"), findings(fixed)]).toEqual([[code], []]);
    expect((await hub.push({ type: "dataset", name: "local-user/data" })).map(({ status }) => status)).toEqual([202]);
  });

  test.each([
    ["SPACE_STARTING", "is building", () => ({ client: clientInStage("BUILDING") })],
    ["SPACE_FAILED", "does not build", () => ({ client: clientInStage("BUILD_ERROR") })],
    ["SPACE_NOT_FOUND", "does not exist", () => ({ space: "local-user/missing" })],
  ])("finds %s for a Space that %s, and does not repair it", async (code, _what, change) => {
    const results = await examine({ ...change(), confirm: async () => true });
    expect(findings(results)).toEqual([code]);
  });

  test.each([
    ["BUILD_ERROR", " --build"],
    ["RUNTIME_ERROR", ""],
  ] as const)("recommends the log that shows the cause of %s", async (stage, option) => {
    const results = await examine({ client: clientInStage(stage) });
    expect(results.find(({ code }) => code === "SPACE_FAILED")).toMatchObject({
      command: `npx hub-webhooks deploy logs ${space}${option}`,
    });
  });

  test("shows why a Space does not start", async () => {
    const start = async () => Promise.reject(new TypeError("fetch failed"));
    hub.sleepSpace(space);
    let now = 0;
    const clock = { now: () => now, sleep: async () => (now += 60_000) };
    const results = await examine({ fetch: start, clock, confirm: async () => true });
    expect(findings(results)).toEqual(["SPACE_ASLEEP"]);
    expect(results.find(({ code }) => code === "SPACE_ASLEEP")?.message).toContain(
      "not become ready within 20 minutes",
    );
  });
});
