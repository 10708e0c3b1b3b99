// @module-tag slow

import { mkdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  type MockInstance,
  onTestFinished,
  test,
  vi,
} from "vitest";
import { HubClient } from "../../src/client.ts";
import { type DeployEvent, type DeployOptions, deploy, rotateSecret } from "../../src/deploy/deploy.ts";
import { findDeployedSpace, RemoteSpace } from "../../src/deploy/remote-space.ts";
import { WebhooksServer } from "../../src/index.ts";
import { Container } from "../../src/local-hub/spaces/container.ts";
import { LocalHub } from "../../src/local-hub.ts";
import { RemoteServer } from "../../src/receiver/checks/remote-server.ts";
import { describeServerFile } from "../../src/server-file/server-process.ts";
import { root } from "../support/project-folder.ts";
import { createFolder } from "../support/temporary-folder.ts";

const space = "local-user/bot";
const bot = { name: "bot", organization: "local-user", type: "space" };
const repo = { type: "dataset", name: "local-user/data" } as const;

const serverFile = (reply = "first") => `
import { WebhooksServer } from ${JSON.stringify(join(root, "dist/index.js"))};
const server = new WebhooksServer();
server.webhook("retrain", { watch: "dataset:local-user/data", scope: "repo.content" }, () => "${reply}");
export default server;
`;
const files = {
  Dockerfile: 'FROM node:24-slim\nWORKDIR /app\nCOPY . .\nCMD ["node", "start.ts"]\n',
  "README.md": "---\nsdk: docker\napp_port: 7860\n---\n# Bot\n",
  "server.ts": serverFile(),
  "start.ts": 'import server from "./server.ts";\nawait server.launch();\n',
  ".gitignore": "private*\n!private-but-public.txt\n",
  ".env": "SOME_OTHER=value-of-another-variable\n",
  "private.txt": "never",
  "private-but-public.txt": "yes",
};

let hub: LocalHub;
let client: HubClient;
let containers: MockInstance<typeof Container.start>;

beforeAll(async () => {
  hub = await LocalHub.launch({ runSpaces: true, attempts: 1, suspendAfter: 1_000, triggersPerDay: 100_000 });
  client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
  return () => hub.close();
});

beforeEach(() => {
  containers = vi.spyOn(Container, "start").mockImplementation(startInThisProcess);
});

afterEach(async () => {
  useProcesses();
  await hubCall("DELETE", "/api/repos/delete", bot);
  for (const { id } of await client.webhooks.list()) await client.webhooks.delete(id);
});

/** Starts what `serverFile` declares, for tests of what a deployment does with a server, whatever runs it. */
async function startInThisProcess({ image, environment }: Parameters<typeof Container.start>[0]): Promise<Container> {
  const { WEBHOOK_SECRET = "", WEBHOOK_SECRET_PREVIOUS, CONSOLE_TOKEN = "" } = environment;
  const server = new WebhooksServer({
    secret: [WEBHOOK_SECRET, ...(WEBHOOK_SECRET_PREVIOUS ? [WEBHOOK_SECRET_PREVIOUS] : [])],
    consoleToken: CONSOLE_TOKEN,
  });
  server.webhook("retrain", { watch: "dataset:local-user/data", scope: "repo.content" }, () => "first");
  const { port } = await server.launch({ port: 0, announce: false });
  const ended = Promise.withResolvers<undefined>();
  const container = {
    ...{ port, ended: ended.promise, ready: async () => undefined, addRequest: () => () => {} },
    async stop() {
      await server.close();
      await rm(image.folder, { recursive: true, force: true });
      ended.resolve(undefined);
    },
  } satisfies Pick<Container, keyof Container>;
  return container as unknown as Container;
}

/** Runs Spaces as processes again, for tests of what runs there. */
function useProcesses(): void {
  containers.mockRestore();
}

function hubCall(method: "DELETE" | "PUT" | "POST", path: string, body: object = {}): Promise<Response> {
  const headers = { authorization: "Bearer hf_local", "content-type": "application/json" };
  return fetch(hub.url + path, { method, headers, body: JSON.stringify(body) });
}

async function createProject(changes: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = createFolder();
  for (const [path, content] of Object.entries({ ...files, ...changes })) await writeFile(join(folder, path), content);
  return folder;
}

/** What server files declare, by their content. Loading a file takes a process. */
const described = new Map<string, ReturnType<typeof describeServerFile>>();

async function describeOnce(file: string): ReturnType<typeof describeServerFile> {
  const content = await readFile(file, "utf8");
  const description = described.get(content) ?? describeServerFile(file);
  described.set(content, description);
  return description;
}

function optionsFor(folder: string, changes: Partial<DeployOptions> = {}): DeployOptions {
  return {
    ...{ client, folder, space, savesSecrets: true, pollMs: 20 },
    describe: () => describeOnce(join(folder, "server.ts")),
    confirm: async () => true,
    askFor: async () => undefined,
    ...changes,
  };
}

async function run(steps: AsyncGenerator<DeployEvent, unknown>): Promise<string[]> {
  const lines: string[] = [];
  for await (const { step, status } of steps) if (status !== "log") lines.push(`${step} ${status}`);
  return lines;
}

async function secretMessages(options: DeployOptions): Promise<string[]> {
  const messages: string[] = [];
  for await (const { step, message } of deploy(options)) if (step === "secrets") messages.push(message);
  return messages;
}

/** What a deployment leaves behind, without what differs from one run to the next. */
async function endState(folder: string) {
  const webhooks = await client.webhooks.list();
  const paths: string[] = [];
  for await (const file of client.repo({ type: "space", name: space }).listFiles({ recursive: true })) {
    if (file.type === "file") paths.push(file.path);
  }
  return {
    stage: (await hub.space(space)).stage,
    webhooks: webhooks.map(({ url, disabled }) => [new URL(String(url)).pathname, disabled]),
    paths,
    names: (await readFile(join(folder, ".env"), "utf8")).match(/^\w+(?==)/gm),
    replies: (await hub.push(repo)).map(({ status }) => status),
  };
}

const expected = {
  stage: "RUNNING",
  webhooks: [["/webhooks/retrain", false]],
  paths: [".gitattributes", ".gitignore", "Dockerfile", "README.md", "private-but-public.txt", "server.ts", "start.ts"],
  names: ["SOME_OTHER", "WEBHOOK_SECRET", "CONSOLE_TOKEN"],
  replies: [200],
};

describe("A deployment", () => {
  test("creates what is missing, and changes nothing the second time", async () => {
    useProcesses();
    const folder = await createProject();
    expect(await run(deploy(optionsFor(folder)))).toEqual([
      ...["space done", "secrets done", "secrets done", "secrets done", "files done", "build done"],
      ...["webhooks done", "delivery done", "doctor done"],
    ]);
    expect(await endState(folder)).toEqual(expected);
    expect((await stat(join(folder, ".env"))).mode & 0o777).toBe(0o600);
    expect(await findDeployedSpace(folder)).toBe(space);
    expect(await run(deploy(optionsFor(folder, { space: undefined })))).toEqual([
      ...["space unchanged", "secrets unchanged", "files unchanged", "build done"],
      ...["webhooks unchanged", "delivery done", "doctor done"],
    ]);
  });

  test("of a new project is healthy, explains the next step, and leaves no refused delivery", async () => {
    useProcesses();
    const template = await readFile(join(root, "templates/space/server.ts"), "utf8");
    const server = template.replace('"hub-webhooks"', JSON.stringify(join(root, "dist/index.js")));
    const folder = await createProject({ "server.ts": server });
    expect(await run(deploy(optionsFor(folder, { dryRun: true })))).not.toContain("webhooks planned");
    const events: string[] = [];
    for await (const { step, status, message } of deploy(optionsFor(folder)))
      events.push(`${step} ${status} ${message}`);
    expect(events.slice(-4)).toEqual([
      "webhooks unchanged registered: 0",
      expect.stringContaining("delivery done"),
      expect.stringMatching(/^doctor next ENDPOINT_UNWATCHED: .+ npx hub-webhooks create --url .+on_new_data --watch /),
      "doctor done 13 passed, 0 fixed, 0 skipped, 1 next step, 0 problems",
    ]);
    const [, token] = /^CONSOLE_TOKEN=(.+)$/m.exec(await readFile(join(folder, ".env"), "utf8")) ?? [];
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${(await hub.space(space)).url}/_console/api/endpoints`, { headers });
    expect((await answer.json()).refused).toEqual([]);
  });

  test("commits an edit, deletes what is gone, and runs the handlers if asked", async () => {
    useProcesses();
    const folder = await createProject();
    await run(deploy(optionsFor(folder)));
    await writeFile(join(folder, "server.ts"), serverFile("second"));
    await rm(join(folder, "private-but-public.txt"));
    expect(await run(deploy(optionsFor(folder, { runsHandlers: true })))).toEqual([
      ...["space unchanged", "secrets unchanged", "files done", "build done"],
      ...["webhooks unchanged", "delivery done", "doctor done"],
    ]);
    const [webhook] = await client.webhooks.list();
    expect((await hub.push(repo)).map(({ answer }) => answer)).toEqual([expect.stringContaining("second")]);
    expect(webhook?.url).toBe(`${(await hub.space(space)).url}/webhooks/retrain`);
    expect((await endState(folder)).paths).toEqual(expected.paths.filter((path) => !path.startsWith("private")));
  });

  test("describes the changes of a dry run, and makes none", async () => {
    const folder = await createProject();
    expect(await run(deploy(optionsFor(folder, { dryRun: true })))).toEqual([
      ...["space planned", "secrets planned", "secrets planned", "files planned", "webhooks planned"],
    ]);
    expect(await findDeployedSpace(folder)).toBeUndefined();
    expect(await readFile(join(folder, ".env"), "utf8")).toBe(files[".env"]);
    expect((await hubCall("POST", `/api/spaces/${space}/restart`)).status).toBe(404);
  });

  test.each([1, 2, 3, 4, 5, 6, 7])("that ends after event %i goes on where it was", async (count) => {
    const folder = await createProject();
    const stop = new AbortController();
    const steps = deploy(optionsFor(folder, { signal: stop.signal }));
    for (let seen = 0; seen < count; ) {
      const { value, done } = await steps.next();
      if (done) break;
      if (value.status !== "log") seen += 1;
    }
    stop.abort();
    await steps.return(undefined);
    await run(deploy(optionsFor(folder)));
    expect(await endState(folder)).toEqual(expected);
  });

  test("replaces a secret that is not known here", async () => {
    const folder = await createProject();
    await run(deploy(optionsFor(folder, { savesSecrets: false })));
    expect(await run(deploy(optionsFor(folder, { savesSecrets: false })))).toEqual([
      ...["space unchanged", "secrets unchanged", "files unchanged", "build done"],
      ...["secrets done", "webhooks done", "secrets done", "delivery done", "doctor done"],
    ]);
    expect((await hub.push(repo)).map(({ status }) => status)).toEqual([200]);
  });

  test("makes a private Space public after a question, and fails otherwise", async () => {
    const folder = await createProject();
    await run(deploy(optionsFor(folder)));
    await hubCall("PUT", `/api/spaces/${space}/settings`, { private: true });
    await expect(run(deploy(optionsFor(folder, { confirm: async () => false })))).rejects.toMatchObject({
      code: "DEPLOY_FAILED",
    });
    expect((await run(deploy(optionsFor(folder))))[0]).toBe("space done");
    expect((await hub.push(repo)).map(({ status }) => status)).toEqual([200]);
  });

  test.each([
    ["a Dockerfile that starts nothing", { Dockerfile: "FROM node" }, "BUILD_ERROR"],
    ["a program that ends", { "start.ts": "process.exit(1)" }, "RUNTIME_ERROR"],
  ])("with %s fails with the stage", async (_what, changes, stage) => {
    useProcesses();
    const folder = await createProject(changes);
    await expect(run(deploy(optionsFor(folder)))).rejects.toMatchObject({
      code: "DEPLOY_FAILED",
      message: expect.stringContaining(stage),
    });
    for (const [path, content] of Object.entries(files)) {
      if (path !== ".env") await writeFile(join(folder, path), content);
    }
    await run(deploy(optionsFor(folder)));
    expect(await endState(folder)).toEqual(expected);
  });

  test.each([
    ["without a Dockerfile", { "README.md": files["README.md"] }, "Dockerfile"],
    ["without metadata", { Dockerfile: files.Dockerfile, "README.md": "# Bot" }, "sdk: docker"],
  ])("of a folder %s fails before any change", async (_what, project, part) => {
    const folder = createFolder();
    for (const [path, content] of Object.entries(project)) await writeFile(join(folder, path), content);
    await expect(run(deploy(optionsFor(folder)))).rejects.toMatchObject({ message: expect.stringContaining(part) });
    expect((await hubCall("POST", `/api/spaces/${space}/restart`)).status).toBe(404);
  });

  test("to a Space with other files asks before its first change", async () => {
    await hubCall("POST", "/api/repos/create", { ...bot, sdk: "docker", private: false });
    await client
      .repo({ type: "space", name: space })
      .commit({ message: "Demo", files: { "app.py": "", "data.txt": "" } });
    const folder = await createProject();
    await expect(run(deploy(optionsFor(folder, { confirm: async () => false })))).rejects.toMatchObject({
      code: "DEPLOY_FAILED",
    });
    expect(await (await client.fetch(`/api/spaces/${space}/secrets`)).json()).toEqual({});
    const questions: string[] = [];
    const confirm = async (question: string) => questions.push(question) > 0;
    await run(deploy(optionsFor(folder, { confirm })));
    expect(questions).toEqual([expect.stringContaining("Delete app.py and 1 other file on it")]);
    await rm(join(folder, "private-but-public.txt"));
    await run(deploy(optionsFor(folder, { confirm })));
    expect(questions).toHaveLength(1);
  });

  test("explains that a file changed after it was listed", async () => {
    const folder = await createProject();
    const savesSecrets = undefined;
    const confirm = async () => (await writeFile(join(folder, "server.ts"), serverFile("edited"))) === undefined;
    await expect(run(deploy(optionsFor(folder, { savesSecrets, confirm })))).rejects.toMatchObject({
      code: "DEPLOY_FAILED",
      message: expect.stringContaining("changed while it was deployed"),
    });
  });

  test("fails if the server does not accept the secret of the Space", async () => {
    useProcesses();
    const own = serverFile().replace("WebhooksServer()", 'WebhooksServer({ secret: "another-5ecret" })');
    const folder = await createProject({ "server.ts": own });
    const clock = { now: () => 100 * performance.now(), sleep: (ms: number) => delay(ms) };
    await expect(run(deploy(optionsFor(folder, { clock })))).rejects.toMatchObject({
      message: expect.stringContaining("SECRET_REFUSED"),
    });
  });

  test("with paths needs a token, before anything runs", async () => {
    const folder = await createProject({ "server.ts": serverFile().replace("scope:", 'paths: "*.csv", scope:') });
    await expect(run(deploy(optionsFor(folder)))).rejects.toMatchObject({
      message: expect.stringContaining("HF_TOKEN"),
    });
    const askFor = async () => "hf_local";
    expect(await run(deploy(optionsFor(folder, { askFor })))).toContain("delivery done");
  });

  test("uploads no secrets, no packages, and nothing behind links", async () => {
    const folder = await createProject({ ".dockerignore": "docs\n*.md\n!README.md\n", "notes.md": "note" });
    for (const path of ["node_modules/a", ".git", ".hub-webhooks", "docs", "src/docs"]) {
      await mkdir(join(folder, path), { recursive: true });
      await writeFile(join(folder, path, "file.txt"), "x");
    }
    await writeFile(join(folder, "src/.gitignore"), "/local.txt\n");
    await writeFile(join(folder, "src/local.txt"), "x");
    await writeFile(join(folder, ".env.production"), "A=1");
    await writeFile(join(folder, ".envrc"), "export A=1");
    await symlink("/etc/hostname", join(folder, "link.txt"));
    await run(deploy(optionsFor(folder)));
    expect((await endState(folder)).paths).toEqual(
      [...expected.paths, ".dockerignore", "src/.gitignore", "src/docs/file.txt"].sort(),
    );
  });

  test("uploads a large file once, with its progress, and later only what changed", async () => {
    const folder = await createProject();
    const model = Buffer.alloc(11e6, "weights");
    model[0] = 0;
    await writeFile(join(folder, "model.bin"), model);
    const sent: string[] = [];
    const counting: typeof fetch = async (input, init) => {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      if (init?.method === "PUT") sent.push("large file");
      if (/\/commit\/main$/.test(pathname)) {
        const lines = String(await new Response(init?.body).text())
          .trim()
          .split("\n");
        sent.push(...lines.slice(1).map((line) => JSON.parse(line).value.path));
      }
      return fetch(input, init);
    };
    const counted = new HubClient({ hubUrl: hub.url, token: "hf_local", fetch: counting });
    const deployCounted = async () => {
      const events = [];
      for await (const { step, status, message } of deploy(optionsFor(folder, { client: counted }))) {
        if (step === "files") events.push(status === "progress" ? message : status);
      }
      return { events, sent: sent.splice(0).sort() };
    };
    expect(await deployCounted()).toEqual({
      events: ["uploaded 0.0 of 11.0 MB of large files", "uploaded 11.0 of 11.0 MB of large files", "done"],
      sent: [...expected.paths.filter((path) => path !== ".gitattributes"), "large file", "model.bin"].sort(),
    });
    expect(await deployCounted()).toEqual({ events: ["unchanged"], sent: [] });
    await writeFile(join(folder, "server.ts"), serverFile("second"));
    expect(await deployCounted()).toEqual({ events: ["done"], sent: ["server.ts"] });
    model[1] = 0;
    await writeFile(join(folder, "model.bin"), model);
    expect((await deployCounted()).sent).toEqual(["large file", "model.bin"]);
  });

  test("sets secrets again after .env changed, but the webhook secret only if the Space does not accept it", async () => {
    const folder = await createProject();
    await run(deploy(optionsFor(folder)));
    const deployEdited = async (edit: (text: string) => string) => {
      const path = join(folder, ".env");
      await writeFile(path, edit(await readFile(path, "utf8")));
      // The Hub has stored the secrets in this second too.
      await utimes(path, new Date(), new Date(Date.now() + 60_000));
      return secretMessages(optionsFor(folder));
    };
    expect(await deployEdited((text) => `${text}HF_TOKEN=hf_other\n`)).toEqual(["set CONSOLE_TOKEN", "set HF_TOKEN"]);
    const changed = await deployEdited((text) => text.replace(/^WEBHOOK_SECRET=.*/m, "WEBHOOK_SECRET=another"));
    expect(changed).toContain("set WEBHOOK_SECRET");
    expect((await hub.push(repo)).map(({ status }) => status)).toEqual([200]);
  });

  test("waits for a restart with a new secret that the Hub starts late", async () => {
    const folder = await createProject();
    await run(deploy(optionsFor(folder)));
    await writeFile(join(folder, ".env"), "WEBHOOK_SECRET=the-next-5ecret\n");
    let restart: (() => void) | undefined;
    const send: typeof fetch = async (input, init) => {
      if (!/secrets$/.test(String(input)) || !/next-5ecret/.test(String(init?.body))) return fetch(input, init);
      restart = () => void fetch(input, init);
      return Response.json({});
    };
    const late = new HubClient({ hubUrl: hub.url, token: "hf_local", fetch: send });
    const { probe } = RemoteServer.prototype;
    const probes = vi.spyOn(RemoteServer.prototype, "probe").mockImplementation(async function (
      this: RemoteServer,
      endpoint,
      secret,
    ) {
      const answer = await probe.call(this, endpoint, secret);
      if (secret === "the-next-5ecret" && answer.code === "SECRET_INVALID") restart?.();
      return answer;
    });
    onTestFinished(() => probes.mockRestore());
    const lines = await run(deploy(optionsFor(folder, { client: late })));
    expect(lines).toContain("delivery done");
    expect((await hub.push(repo)).map(({ status }) => status)).toEqual([200]);
  });

  test("sets every variable of another file as a secret, even of an older one", async () => {
    const secretOf = (name: string) => `WEBHOOK_SECRET=the-secret-of-${name}\nAPI_KEY=${name}\n`;
    const folder = await createProject({ ".env": secretOf("development"), "production.txt": secretOf("production") });
    await utimes(join(folder, "production.txt"), new Date(), new Date(0));
    const messagesOf = (changes: Partial<DeployOptions> = {}) => secretMessages(optionsFor(folder, changes));
    await messagesOf();
    await messagesOf({ environmentFile: ".env" });
    expect(await messagesOf({ environmentFile: "production.txt" })).toEqual(["set API_KEY", "set WEBHOOK_SECRET"]);
    expect((await endState(folder)).paths).toEqual(expected.paths);
    expect((await hub.push(repo)).map(({ status }) => status)).toEqual([200]);
    expect(await messagesOf({ environmentFile: "production.txt" })).toEqual(["3 secrets are set"]);
  });

  test("sets the webhook secret again if another process changed it on the Space", async () => {
    const folder = await createProject();
    await run(deploy(optionsFor(folder)));
    await hubCall("POST", `/api/spaces/${space}/secrets`, { key: "WEBHOOK_SECRET", value: "of-another-process" });
    expect(await run(deploy(optionsFor(folder)))).toContain("secrets done");
    expect((await hub.push(repo)).map(({ status }) => status)).toEqual([200]);
  });

  test("with a file of secrets that does not exist fails before any change", async () => {
    const folder = await createProject();
    await expect(run(deploy(optionsFor(folder, { environmentFile: ".env.prodution" })))).rejects.toMatchObject({
      message: expect.stringContaining("--env-file"),
    });
    expect((await hubCall("POST", `/api/spaces/${space}/restart`)).status).toBe(404);
  });
});

test("A rotation under load refuses no delivery", async () => {
  useProcesses();
  const folder = await createProject();
  await run(deploy(optionsFor(folder)));
  const statuses: (number | null)[] = [];
  let isOver = false;
  const load = (async () => {
    while (!isOver) {
      statuses.push(...(await hub.push(repo)).map(({ status }) => status));
    }
  })();
  onTestFinished(() => {
    isOver = true;
  });
  const before = await readFile(join(folder, ".env"), "utf8");
  await run(rotateSecret(optionsFor(folder)));
  isOver = true;
  await load;
  expect(await readFile(join(folder, ".env"), "utf8")).not.toBe(before);
  expect(statuses.filter((status) => status === 401 || status === 403)).toEqual([]);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(3);
  expect((await hub.push(repo)).map(({ status }) => status)).toEqual([200]);
});

test("A rotation asks before its first change", async () => {
  const folder = await createProject();
  await run(deploy(optionsFor(folder)));
  const confirm = () => Promise.reject(new Error("no terminal"));
  await expect(run(rotateSecret(optionsFor(folder, { savesSecrets: undefined, confirm })))).rejects.toThrow(
    "no terminal",
  );
  const secrets = await (await client.fetch(`/api/spaces/${space}/secrets`)).json();
  expect(secrets).not.toHaveProperty("WEBHOOK_SECRET_PREVIOUS");
});

test.each([1, 2, 3, 4])("A rotation that ends after event %i is finished by the next deployment", async (count) => {
  const folder = await createProject();
  await run(deploy(optionsFor(folder)));
  const stop = new AbortController();
  const steps = rotateSecret(optionsFor(folder, { signal: stop.signal }));
  for (let seen = 0; seen < count; ) {
    const { value, done } = await steps.next();
    if (done) break;
    if ("status" in value && value.status !== "log") seen += 1;
  }
  stop.abort();
  await steps.return({ url: "" });
  expect((await hub.push(repo)).map(({ status }) => status)).toEqual([200]);
  await run(deploy(optionsFor(folder)));
  expect(await endState(folder)).toEqual(expected);
  const secrets = await (await client.fetch(`/api/spaces/${space}/secrets`)).json();
  expect(Object.keys(secrets).sort()).toEqual(["CONSOLE_TOKEN", "WEBHOOK_SECRET"]);
});

test("A rotation after an interrupted one refuses no delivery, and ends with a new secret", async () => {
  const folder = await createProject();
  await run(deploy(optionsFor(folder)));
  for await (const { step } of rotateSecret(optionsFor(folder))) if (step === "webhooks") break;
  const interrupted = await readFile(join(folder, ".env"), "utf8");
  const statuses: (number | null)[] = [];
  for await (const _event of rotateSecret(optionsFor(folder))) {
    statuses.push(...(await hub.push(repo)).map(({ status }) => status));
  }
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(await readFile(join(folder, ".env"), "utf8")).not.toBe(interrupted);
});

test("A Space with its inbox in a bucket loses nothing while it sleeps, wakes, and loses its disk", async () => {
  useProcesses();
  const handled = join(createFolder(), "handled.txt");
  const folder = await createProject({
    ".env": Object.entries(credentialsOf(hub))
      .map(([name, value]) => `${name}=${value}\n`)
      .join(""),
    "server.ts": `
import { appendFileSync } from "node:fs";
import { WebhooksServer } from ${JSON.stringify(join(root, "dist/index.js"))};
const server = new WebhooksServer();
server.webhook("retrain", { watch: "dataset:local-user/data", scope: "repo.content", background: true }, async ({ repo }) => {
  await new Promise((resolve) => setTimeout(resolve, 300));
  appendFileSync(${JSON.stringify(handled)}, repo.headSha + "\\n");
});
export default server;
`,
  });
  expect(await run(deploy(optionsFor(folder)))).toContain("inbox done");
  hub.sleepSpace(space);
  const pushed = [];
  for (let count = 1; count <= 3; count += 1) {
    const [delivery] = await hub.push(repo, { files: { "data.txt": `version ${count}` } });
    pushed.push(delivery?.status);
    // Before the handlers have ended: the process stops, and its disk is lost.
    if (count > 1) hub.sleepSpace(space);
  }
  expect(pushed).toEqual([202, 202, 202]);
  const { url } = await hub.space(space);
  await fetch(`${url}/ready`);
  const lines = async () => (await readFile(handled, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  await expect.poll(async () => new Set(await lines()).size).toBe(3);
  const variables = await (await client.fetch(`/api/spaces/${space}/variables`)).json();
  expect(variables).toMatchObject({ INBOX_URL: { value: "hf://buckets/local-user/bot-inbox" } });
  expect(await run(deploy(optionsFor(folder, { inbox: "disk" })))).toContain("inbox done");
  expect(await (await client.fetch(`/api/spaces/${space}/variables`)).json()).toEqual({});
});

function credentialsOf(localHub: LocalHub) {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = localHub.createBucket("local-user/other");
  return { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY };
}

type Answer = "429" | "limit" | "503" | "lost" | "401" | "402" | "cut" | "building" | undefined;
const calls = {
  create: /^POST .*repos\/create$/,
  bucket: /^POST .*buckets\/local-user\/bot-inbox$/,
  secrets: /^(GET|POST) .*\/secrets$/,
  variables: /^(GET|POST) .*\/variables$/,
  preupload: /^POST .*\/preupload\/main$/,
  batch: /^POST .*\/info\/lfs\/objects\/batch$/,
  upload: /^PUT .*(?<!settings)$/,
  commit: /^POST .*\/commit\/main$/,
  runtime: /^GET .*\/runtime$/,
  logs: /^GET .*\/logs\/build$/,
  list: /^GET .*\/settings\/webhooks$/,
  webhook: /^POST .*\/settings\/webhooks$/,
  settings: /^PUT .*\/settings$/,
} as const;
type Call = keyof typeof calls;

/** A client whose calls receive other answers than those of the local Hub. Waits of the client end at once. */
function clientWith(answerTo: (call: Call, count: number, sent: { body: string }) => Answer, attempts = 1) {
  const counts = new Map<Call, number>();
  const changed: typeof fetch = async (input, init) => {
    const request = `${init?.method ?? "GET"} ${new URL(String(input)).pathname}`;
    const call = (Object.keys(calls) as Call[]).find((name) => calls[name].test(request));
    if (call === undefined) return fetch(input, init);
    const count = (counts.get(call) ?? 0) + 1;
    counts.set(call, count);
    const body = typeof init?.body === "string" ? init.body : "";
    const answer = answerTo(call, count, { body });
    if (answer === "lost") await (await fetch(input, init)).arrayBuffer();
    if (answer === "cut") return cutAfter(await fetch(input, init), count);
    if (answer === undefined) return fetch(input, init);
    if (answer === "building") {
      return Response.json({ ...(await (await fetch(input, init)).json()), stage: "BUILDING" });
    }
    if (answer === "limit") return new Response("{}", { status: 429, headers: { ratelimit: '"api";r=0;t=55' } });
    const status = answer === "lost" ? 503 : Number(answer);
    return new Response("{}", { status, headers: status === 429 ? { "retry-after": "50" } : {} });
  };
  const { setTimeout: wait } = globalThis;
  const waits: number[] = [];
  const timers = vi.spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, ms = 0, ...given: []) => {
    // Other timers, such as those of the client's timeout, are not of these lengths.
    const isSkipped = ms === 50_000 || ms === 55_000;
    if (isSkipped) waits.push(ms);
    return wait(run, isSkipped ? 0 : ms, ...given);
  }) as typeof setTimeout);
  const random = vi.spyOn(Math, "random").mockReturnValue(0);
  onTestFinished(() => void [timers.mockRestore(), random.mockRestore()]);
  return { client: new HubClient({ hubUrl: hub.url, token: "hf_local", fetch: changed, attempts }), counts, waits };
}

/** Returns the first bytes of a stream, which then ends (every second time), or breaks off. */
function cutAfter(response: Response, count: number): Response {
  const reader = response.body?.getReader();
  const body = new ReadableStream({
    async start(controller) {
      const first = await reader?.read();
      if (first?.value) controller.enqueue(first.value);
      await reader?.cancel();
      // An error discards what was not read yet.
      await new Promise(setImmediate);
      if (count % 2 === 0) controller.close();
      else controller.error(new TypeError("terminated"));
    },
  });
  return new Response(body, { headers: response.headers });
}

describe("Answers of the Hub in the middle of a deployment", () => {
  test("that ask to wait, or that are lost, delay it", async () => {
    useProcesses();
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = credentialsOf(hub);
    const background = serverFile().replace("scope:", "background: true, scope:");
    const env = `AWS_ACCESS_KEY_ID=${AWS_ACCESS_KEY_ID}\nAWS_SECRET_ACCESS_KEY=${AWS_SECRET_ACCESS_KEY}\n`;
    const folder = await createProject({ ".env": env, "server.ts": background, "model.bin": "\0weights" });
    const answers: Answer[] = ["429", "limit", "503", "lost"];
    const slow = clientWith(
      (call, count) => answers.filter((a) => call !== "webhook" || a?.endsWith("9"))[count - 1],
      8,
    );
    await run(deploy(optionsFor(folder, { client: slow.client })));
    const seen = [...slow.counts.keys()].filter((name) => name !== "settings");
    expect(seen.sort()).toEqual(
      Object.keys(calls)
        .filter((name) => name !== "settings")
        .sort(),
    );
    expect(new Set(slow.waits)).toEqual(new Set([50_000, 55_000]));
    expect(await client.webhooks.list()).toHaveLength(1);
    expect(Object.keys(await (await client.fetch(`/api/spaces/${space}/secrets`)).json()).sort()).toEqual([
      ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "CONSOLE_TOKEN", "WEBHOOK_SECRET"],
    ]);
    expect(await run(deploy(optionsFor(folder)))).not.toContain("files done");
    expect((await hub.push(repo)).map(({ status }) => status)).toEqual([202]);
  });

  test.each<[Call, Answer, string]>([
    ["create", "402", "Docker Spaces need PRO"],
    ["create", "lost", "run the command again"],
    ["secrets", "429", "Try again in 50 s. To go on from here, run the command again"],
    ["secrets", "401", "was revoked"],
    ["preupload", "503", "run the command again"],
    ["commit", "402", "This needs PRO"],
    ["runtime", "503", "within 20 minutes"],
    ["runtime", "401", "was revoked"],
    [
      "runtime",
      "building",
      "20 minutes (BUILDING). Follow its build: npx hub-webhooks deploy logs --build --follow. To go on",
    ],
    ["webhook", "lost", "creates no webhook twice"],
  ])("to the call %s: %s ends it, and the next one goes on", async (failing, answer, part) => {
    const folder = await createProject();
    let now = 0;
    const clock = { now: () => now, sleep: async () => (now += 60_000) };
    const { client: failed } = clientWith((call) => (call === failing ? answer : undefined));
    const options = { client: failed, ...(failing === "runtime" && { clock }) };
    const error = await run(deploy(optionsFor(folder, options))).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "DEPLOY_FAILED", message: expect.stringContaining(part) });
    await run(deploy(optionsFor(folder)));
    expect(await endState(folder)).toEqual(expected);
  });
});

test("A protected Space that needs a plan becomes public after a question, or with --public", async () => {
  const folder = await createProject();
  const { client: unpaid } = clientWith((call, _count, { body }) =>
    /create|settings/.test(call) && body.includes("protected") ? "402" : undefined,
  );
  unpaid.whoami = async (options) => ({ ...(await client.whoami(options)), isPro: true });
  const no = optionsFor(folder, { client: unpaid, confirm: async () => false });
  await expect(run(deploy(no))).rejects.toMatchObject({ message: expect.stringMatching(/PRO.+--public/) });
  expect((await hubCall("POST", `/api/spaces/${space}/restart`)).status).toBe(404);
  expect((await run(deploy({ ...no, isPublic: true })))[0]).toBe("space done");
  await hubCall("PUT", `/api/spaces/${space}/settings`, { private: true });
  const yes = optionsFor(folder, { client: unpaid });
  expect((await run(deploy(yes))).slice(0, 2)).toEqual(["space warning", "space done"]);
  expect(await endState(folder)).toEqual(expected);
});

test("A log that breaks off or ends is opened again while the Space builds, without repeated lines", async () => {
  const folder = await createProject();
  const { client: cutting } = clientWith((call) => (call === "logs" ? "cut" : undefined));
  await run(deploy(optionsFor(folder, { client: cutting })));
  const runtime = await (await client.fetch(`/api/spaces/${space}/runtime`)).json();
  // The second stream ends, the others break off. The last one is another log.
  const streams = [["a"], ["a", "b"], ["a", "b", "c"], ["d", "b"]];
  const stages = ["BUILDING", "RUNNING_BUILDING", "BUILDING", "RUNNING"];
  const send: typeof fetch = async (input) => {
    if (String(input).endsWith("/runtime")) return Response.json({ ...runtime, stage: stages.shift() });
    const lines = streams.shift() ?? [];
    const body = new Response(lines.map((data) => `data: ${JSON.stringify({ data })}\n`).join(""));
    return cutAfter(body, streams.length);
  };
  const remote = new RemoteSpace(new HubClient({ token: "hf_local", fetch: send }), space, { signal: undefined });
  const { signal } = new AbortController();
  const lines: string[] = [];
  for await (const line of remote.follow("build", { signal, pollMs: 0 })) lines.push(line);
  expect(lines).toEqual([..."abcdb"]);
  streams.push(["a"], []);
  await expect(async () => {
    for await (const _line of await remote.logs("run", { signal }));
  }).rejects.toMatchObject({ code: "HUB_UNREACHABLE", message: expect.stringContaining("--follow") });
});

test.each([
  ["deleted", "does not exist any more", space],
  ["renamed", "is now local-user/renamed", "local-user/renamed"],
])("A Space that is %s during a deployment ends it, and the next one goes on", async (how, part, next) => {
  const folder = await createProject();
  const end = (async () => {
    for await (const { step, status } of deploy(optionsFor(folder))) {
      if (step !== "files" || status !== "done") continue;
      if (how === "deleted") await hubCall("DELETE", "/api/repos/delete", bot);
      else await hubCall("POST", "/api/repos/move", { fromRepo: space, toRepo: next, type: "space" });
    }
  })();
  await expect(end).rejects.toMatchObject({ code: "DEPLOY_FAILED", message: expect.stringContaining(part) });
  await run(deploy(optionsFor(folder, { space: next })));
  onTestFinished(async () => {
    await hubCall("DELETE", "/api/repos/delete", { ...bot, name: next.split("/")[1] });
  });
  expect((await hub.space(next)).stage).toBe("RUNNING");
  expect(await client.webhooks.list()).toHaveLength(1);
  expect((await hub.push(repo)).map(({ status }) => status)).toEqual([200]);
});
