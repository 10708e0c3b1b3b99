import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { HubClient } from "../../../src/client.ts";
import { Changes } from "../../../src/local-hub/jobs/event-stream.ts";
import { readStartCommand } from "../../../src/local-hub/spaces/container.ts";
import { Space } from "../../../src/local-hub/spaces/space.ts";
import { LocalHub } from "../../../src/local-hub.ts";
import { isRunning } from "../../support/program.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { openLocalHub } from "../support/hub.ts";

const name = "me/bot";

/** An app that says which version it is, what it got, and in which folder it runs. Its answers end the process, or hang. */
const app = (version: string) => `
import { createServer } from "node:http";
import { existsSync, writeFileSync } from "node:fs";
console.log("Version ${version}, secret " + process.env.TOKEN);
const server = createServer((request, response) => {
  if (request.url === "/exit") process.exit(3);
  if (request.url === "/hang") return;
  if (request.url === "/odd") return void request.socket.end("HTTP/1.1 099 Odd\\r\\nContent-Length: 0\\r\\n\\r\\n");
  if (request.url === "/half") return void response.writeHead(200).write("half", () => process.exit(4));
  if (request.url === "/slow") {
    const waiting = setInterval(() => {
      if (!existsSync("released")) return;
      clearInterval(waiting);
      response.end("${version}");
    }, 10);
    return;
  }
  const wrote = existsSync("written");
  writeFileSync("written", "x");
  let body = "";
  request.on("data", (part) => { body += part; }).on("end", () => {
    const { TOKEN, MODE, SPACE_ID, SPACE_HOST, HF_ENDPOINT } = process.env;
    response.end(JSON.stringify({ version: "${version}", body, wrote, folder: process.cwd(), TOKEN, MODE, SPACE_ID, SPACE_HOST, HF_ENDPOINT }));
  });
});
server.on("upgrade", (_request, socket) => socket.write("HTTP/1.1 101 Switching Protocols\\r\\nConnection: upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n"));
server.listen(process.env.PORT, process.env.HOST);
`;
const dockerfile =
  'FROM node:24-slim\nENV MODE=image PORT=7860\nWORKDIR /app\nCOPY . .\nCMD ["node", "/app/app.mjs"]\n';

const answer = z.looseObject({ version: z.string(), wrote: z.boolean(), folder: z.string(), body: z.string() });

let hub: LocalHub;
let client: HubClient;

async function launch() {
  hub = await LocalHub.launch({ runSpaces: true });
  client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
  return () => hub.close();
}

async function call(line: string, body?: object, token = "hf_local"): Promise<{ status: number; body: unknown }> {
  const [method = "", path = ""] = line.split(" ");
  const response = await fetch(hub.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}

async function push(files: Record<string, string | null>): Promise<void> {
  await client.repo({ type: "space", name }).commit({ message: "Change", files });
}

/** Creates the Space, and waits until it runs. */
async function create(files: Record<string, string> = { Dockerfile: dockerfile, "app.mjs": app("1") }) {
  const body = { name: "bot", organization: "me", type: "space", sdk: "docker" };
  expect((await call("POST /api/repos/create", body)).status).toBe(200);
  await push(files);
  return hub.space(name);
}

async function visit(path = "/", init?: RequestInit) {
  const { url } = await hub.space(name);
  const response = await fetch(`${url}${path}`, init);
  const text = await response.text();
  return response.ok ? answer.parse(JSON.parse(text)) : { status: response.status, text };
}

async function stage(): Promise<string> {
  return (await hub.space(name)).stage;
}

/** Returns the lines of a log, which ends with the Space. */
async function logOf(kind: "run" | "build"): Promise<string> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const response = await fetch(`${hub.url}/api/spaces/${name}/logs/${kind}`, {
    headers: { authorization: "Bearer hf_local" },
    signal: stop.signal,
  });
  let text = "";
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (reader && !text.includes("data: ")) text += (await reader.read()).value ?? "";
  return text;
}

describe("A Docker Space", { tags: "slow" }, () => {
  beforeAll(launch);

  afterEach(async () => {
    await call("DELETE /api/repos/delete", { name: "bot", organization: "me", type: "space" });
  });

  test("runs its start command with its secrets and variables, which no log contains", async () => {
    await call("POST /api/repos/create", {
      ...{ name: "bot", organization: "me", type: "space", sdk: "docker" },
      secrets: [{ key: "TOKEN", value: "s3cret-value", description: "Mine" }],
    });
    await call(`POST /api/spaces/${name}/variables`, { key: "MODE", value: "space" });
    await push({ Dockerfile: dockerfile, "app.mjs": app("1") });
    const { url } = await hub.space(name);
    expect(await visit("/x", { method: "POST", body: "hello" })).toMatchObject({
      ...{ version: "1", body: "hello", TOKEN: "s3cret-value", MODE: "space", SPACE_ID: name, HF_ENDPOINT: hub.url },
      SPACE_HOST: url?.replace("http://", ""),
    });
    expect(await logOf("run")).toContain("Version 1, secret ***");
    expect((await call(`GET /api/spaces/${name}/secrets`)).body).toEqual({
      TOKEN: { description: "Mine", updatedAt: expect.any(String) },
    });
    expect((await call(`GET /api/spaces/${name}`)).body).toMatchObject({ host: url, runtime: { stage: "RUNNING" } });
  });

  test("is replaced by a push, and loses its disk at a restart", async () => {
    await create();
    expect(await visit()).toMatchObject({ version: "1", wrote: false });
    const first = await visit();
    expect(first).toMatchObject({ wrote: true });
    await push({ "app.mjs": app("2") });
    expect(await visit()).toMatchObject({ version: "2", wrote: false });
    await call(`POST /api/spaces/${name}/restart`);
    expect(await visit()).toMatchObject({ version: "2", wrote: false });
    await expect.poll(() => "folder" in first && existsSync(first.folder)).toBe(false);
  });

  test("serves the old version until the new one listens, without a request in vain", async () => {
    const { url } = await create();
    const { folder } = answer.parse(await (await fetch(`${url}/`)).json());
    const slow = fetch(`${url}/slow`).then((response) => response.text());
    await push({ "app.mjs": `await new Promise((resolve) => setTimeout(resolve, 300));${app("2")}` });
    const versions: string[] = [];
    while (!versions.includes("2")) {
      const response = await fetch(`${url}/`);
      versions.push(answer.parse(await response.json()).version);
      if (versions.length === 1) {
        expect((await call(`GET /api/spaces/${name}/runtime`)).body).toMatchObject({
          stage: expect.stringMatching(/^RUNNING_/),
        });
      }
    }
    expect(versions[0]).toBe("1");
    writeFileSync(join(folder, "released"), "");
    expect(await slow).toBe("1");
  });

  test("is replaced by a push although the old version ends in the meantime", async () => {
    const { url } = await create();
    const released = JSON.stringify(join(createFolder(), "released"));
    const wait = `while (!existsSync(${released})) await new Promise((resolve) => setTimeout(resolve, 10));`;
    await push({ "app.mjs": `${wait}${app("2")}` });
    expect((await fetch(`${url}/exit`)).status).toBe(502);
    const runtime = async () => (await call(`GET /api/spaces/${name}/runtime`)).body;
    await expect.poll(runtime).toMatchObject({ stage: expect.stringMatching(/^(BUILDING|APP_STARTING)$/) });
    writeFileSync(JSON.parse(released), "");
    expect(await visit()).toMatchObject({ version: "2" });
    expect(await stage()).toBe("RUNNING");
  });

  test("that prints many lines does not block the local Hub", async () => {
    const before = process.cpuUsage();
    // It listens when the local Hub has read most of them.
    const print = 'await new Promise((resolve) => process.stdout.write("y\\n".repeat(200_000), resolve));';
    await create({ Dockerfile: dockerfile, "app.mjs": `${print}${app("1")}` });
    expect(await visit()).toMatchObject({ version: "1" });
    // Other processes of a busy machine do not count.
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(1_500);
  });

  test("sleeps, and is woken by a request, which waits", async () => {
    await create();
    hub.sleepSpace(name);
    expect(await stage()).toBe("SLEEPING");
    const { url } = await hub.space(name);
    const answers = await Promise.all([1, 2, 3].map(async () => (await fetch(`${url}/`)).status));
    expect(answers).toEqual([200, 200, 200]);
    expect(await stage()).toBe("RUNNING");
  });

  test("survives clients that leave while it wakes, and apps that end in the middle of a response", async () => {
    const { url } = await create();
    const { body } = await call(`POST /_local/spaces/${name}/sleep`, {});
    expect(body).toMatchObject({ stage: "SLEEPING" });
    await expect(fetch(`${url}/`, { signal: AbortSignal.timeout(5) })).rejects.toThrow();
    expect(await visit()).toMatchObject({ version: "1" });
    await expect(fetch(`${url}/half`).then((response) => response.text())).rejects.toThrow();
    await expect.poll(async () => (await hub.space(name)).errorMessage).toBe("exit code 4");
    await call(`POST /api/spaces/${name}/restart`);
    expect(await visit()).toMatchObject({ version: "1" });
  });

  test("is paused until it is restarted, also by a push", async () => {
    await create();
    expect((await call(`POST /api/spaces/${name}/pause`)).body).toMatchObject({ stage: "PAUSED" });
    await push({ "app.mjs": app("2") });
    expect(await visit()).toMatchObject({ status: 503 });
    await call(`POST /api/spaces/${name}/restart`);
    expect(await visit()).toMatchObject({ version: "2" });
  });

  test("restarts with a changed secret", async () => {
    await create();
    await call(`POST /api/spaces/${name}/secrets`, { key: "TOKEN", value: "second-value" });
    expect(await visit()).toMatchObject({ TOKEN: "second-value" });
    await call(`DELETE /api/spaces/${name}/secrets`, { key: "TOKEN" });
    expect(await visit()).not.toHaveProperty("TOKEN");
  });

  test("that ends or never listens has a reason, and another push starts it", async () => {
    await create();
    expect(await visit("/exit")).toMatchObject({ status: 502 });
    await expect.poll(stage).toBe("RUNTIME_ERROR");
    expect((await hub.space(name)).errorMessage).toBe("exit code 3");
    const file = join(createFolder(), "pid");
    await push({
      "app.mjs": `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(file)}, String(process.pid)); setInterval(() => {}, 1000)`,
    });
    await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toMatch(/\d/);
    // The start that never ends gives up for the next one.
    await push({ "app.mjs": app("3") });
    expect(await visit()).toMatchObject({ version: "3" });
    await expect.poll(() => isRunning(Number(readFileSync(file, "utf8")))).toBe(false);
  });

  test.each([
    ["without a Dockerfile", { "app.mjs": app("1") }, "NO_APP_FILE"],
    ["with a Dockerfile that starts nothing", { Dockerfile: "FROM node" }, "BUILD_ERROR"],
    ["whose program does not exist", { Dockerfile: 'CMD ["no-such-program"]' }, "RUNTIME_ERROR"],
  ])("%s has the stage of the problem", async (_what, files, expected) => {
    expect((await create(files)).stage).toBe(expected);
  });

  test("ends when it is deleted, also with an open request", async () => {
    const { url } = await create();
    const open = fetch(`${url}/hang`).catch(() => "broken off");
    await call("DELETE /api/repos/delete", { name: "bot", organization: "me", type: "space" });
    expect(await open).toBe("broken off");
    await expect.poll(() => fetch(`${url}/`).catch(() => "gone")).toBe("gone");
  });
});

describe("A Docker Space that runs", { tags: "slow" }, () => {
  beforeAll(async () => {
    const close = await launch();
    await create();
    return close;
  });

  test("with an invalid response is answered with 502, and the local Hub goes on", async () => {
    expect(await visit("/odd")).toMatchObject({ status: 502 });
    expect(await visit()).toMatchObject({ version: "1" });
  });

  test("gets the request for a WebSocket as an ordinary one, and answers it", async () => {
    const { url = "" } = await hub.space(name);
    const headers = { connection: "upgrade", upgrade: "websocket" };
    const [response] = await once(request(url, { headers }).end(), "response");
    expect(response).toMatchObject({ statusCode: 200 });
    response.resume();
  });

  test("cannot be reached under another name (DNS rebinding)", async () => {
    const { url = "" } = await hub.space(name);
    const [response] = await once(request(url, { headers: { host: "evil.example" } }).end(), "response");
    expect(response).toMatchObject({ statusCode: 404 });
    response.resume();
  });

  test("has a runtime with hardware and sleep time", async () => {
    const line = `POST /api/spaces/${name}/hardware`;
    expect((await call(line, { flavor: "cpu-upgrade", sleepTimeSeconds: 600 })).body).toMatchObject({ gcTimeout: 600 });
    expect((await call(line, { flavor: "huge" })).status).toBe(400);
    expect((await call("GET /api/spaces/hardware")).body).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: "cpu-upgrade" })]),
    );
    expect((await call(line, { flavor: "cpu-basic" })).body).toMatchObject({ gcTimeout: 172_800 });
    expect((await call(line, { flavor: "cpu-basic" }, "hf_other")).status).toBe(403);
  });

  test("that is private answers only its members, not the deliveries of the Hub", async () => {
    onTestFinished(async () => void (await call(`PUT /api/spaces/${name}/settings`, { private: false })));
    await call(`PUT /api/spaces/${name}/settings`, { private: true });
    expect(await visit()).toMatchObject({ status: 404 });
    expect(await visit("/", { headers: { authorization: "Bearer hf_local" } })).toMatchObject({ version: "1" });
  });
});

test("With a state file, a Space keeps its address, and a request wakes it after a restart of the local Hub", {
  tags: "slow",
}, async () => {
  const options = { runSpaces: true, state: join(createFolder(), "hub.db") };
  const first = await openLocalHub(options);
  const body = { name: "bot", organization: "me", type: "space", sdk: "docker" };
  await first.request("POST /api/repos/create", { body });
  const bot = new HubClient({ hubUrl: first.url, token: "hf_local" }).repo({ type: "space", name });
  await bot.commit({ message: "Add", files: { Dockerfile: dockerfile, "app.mjs": app("1") } });
  const { url } = await first.hub.space(name);
  await first.hub.close();
  await using second = await LocalHub.launch(options);
  expect(await second.space(name)).toMatchObject({ url, stage: "SLEEPING" });
  expect((await fetch(`${url}/`)).status).toBe(200);
});

test("A Space that starts again or pauses before it listens gets its address, and keeps its stage", {
  tags: "slow",
}, async () => {
  const starts: unknown[] = [];
  const space = new Space({
    ...{ id: "bot", port: undefined, onPort: () => {}, changes: new Changes(), now: () => 0 },
    ...{ isAllowed: () => true, sleepAfterMs: () => undefined },
    version: () => {
      starts.push([space.state.stage, space.state.port]);
      return { stage: "NO_APP_FILE", message: "" };
    },
  });
  onTestFinished(() => space.close());
  space.resume();
  space.restart();
  await space.settled();
  expect(starts).toEqual([["BUILDING", expect.any(Number)]]);
  space.resume();
  space.pause();
  await space.settled();
  expect(space.state.stage).toBe("PAUSED");
});

test("Without runSpaces, settings are stored, and nothing runs", { tags: "slow" }, async () => {
  const other = await openLocalHub();
  const body = { name: "bot", organization: "me", type: "space", sdk: "docker" };
  await other.request("POST /api/repos/create", { body });
  await other.request(`POST /api/spaces/${name}/variables`, { body: { key: "MODE", value: "a" } });
  await other.request(`POST /api/spaces/${name}/restart`, { body: {} });
  expect(await other.hub.space(name)).toEqual({ url: undefined, stage: "STOPPED", errorMessage: undefined });
  expect((await other.request(`GET /api/spaces/${name}/logs/run`)).text).not.toContain("data:");
});

test.each([
  ["a list", 'CMD ["node", "start.ts"]', { command: ["node", "start.ts"] }],
  ["a line for a shell", "CMD node start.ts", { command: ["/bin/sh", "-c", "node start.ts"] }],
  ["the last of several", 'CMD ["a"]\nCMD ["b"]', { command: ["b"] }],
  ["an entry point with arguments", 'ENTRYPOINT ["node"]\nCMD ["start.ts"]', { command: ["node", "start.ts"] }],
  ["several lines", 'CMD ["node", \\\n  "start.ts"]', { command: ["node", "start.ts"] }],
  ["small letters, with comments", '# CMD ["no"]\ncmd ["yes"]\r\n', { command: ["yes"] }],
])("The command is %s", (_what, dockerfile, expected) => {
  expect(readStartCommand(dockerfile)).toMatchObject(expected);
});

test.each([
  ["ENV A=1 B=two", { A: "1", B: "two" }],
  [`ENV A="1 2" B='3 4' C=5\\ 6`, { A: "1 2", B: "3 4", C: "5 6" }],
  ["ENV A 1 2", { A: "1 2" }],
  [`ENV A=1\nENV B=$A C=\${A}x D=\${E:-else} F=$G`, { A: "1", B: "1", C: "1x", D: "else", F: "" }],
  ["ENV A=1\nFROM node\nENV B=2", { B: "2" }],
])("The variables of %j are those of the last stage, with inserted values", (lines, environment) => {
  expect(readStartCommand(`${lines}\nCMD ["a"]`).environment).toEqual(environment);
});

test.each([
  ["", "/"],
  ["WORKDIR /app", "/app"],
  ["WORKDIR /app\nWORKDIR src", "/app/src"],
  ["ENV HOME=/home/user\nWORKDIR $HOME/app", "/home/user/app"],
  ["WORKDIR /build\nFROM node", "/"],
])("The folder of %j is the last one", (lines, folder) => {
  expect(readStartCommand(`${lines}\nCMD ["a"]`).folder).toBe(folder);
});

test.each(["", "FROM node", "FROM a\nCMD a\nFROM b"])("A file that starts nothing is refused: %j", (dockerfile) => {
  expect(() => readStartCommand(dockerfile)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
});
