import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { readEvents } from "../../src/hub/transport/response-body.ts";
import { listen } from "../support/listen.ts";
import { runProgram } from "../support/program.ts";
import { makeProject } from "../support/project-folder.ts";
import { addressOf, startReceiverProcess } from "../support/receiver-process.ts";
import { holdsSecret } from "../support/secrets.ts";
import { waitFor } from "../support/wait-for.ts";
import { packageEnvironment } from "./on-built-package.ts";
import { secret } from "./receiver.ts";
import { countRows } from "./rows.ts";

countRows("dev");

const planted = {
  WEBHOOK_SECRET: secret,
  CONSOLE_TOKEN: "Planted-0wner-5e1f",
  HF_TOKEN: "hf_PlantedToken0123456789abcdefghij",
  INBOX_URL: "redis://bot:Planted-pa55word@127.0.0.1:1",
};
const inFileOnly = "Planted-in-the-file-07ac";
const secrets = [...Object.values(planted).slice(0, 3), "Planted-pa55word", inFileOnly];

const working = `
  import { WebhooksServer } from "hub-webhooks";
  const server = new WebhooksServer();
  server.webhook("target", { watch: "dataset:local-user/data" }, async (_payload, { hub }) => (await hub.whoami()).name);
  export default server;
  await server.launch();`;

/** Starts a `dev` session in a process, and signs in to its console. */
async function startDevProcess(environment: Readonly<Record<string, string>> = planted) {
  const project = await makeProject({ "server.ts": working });
  onTestFinished(() => project[Symbol.asyncDispose]());
  const file = join(project.path, "server.ts");
  const child = startReceiverProcess(new URL("./dev-script.ts", import.meta.url), {
    ...{ ...environment, ...packageEnvironment, FILE: file, STATE: join(project.path, "registrations.json") },
    LAUNCH_EDITOR: "true",
  });
  const url = await addressOf(child);
  const { link, hub } = await child.says(/^The server is ready/);
  const api = `${url}/_console/api`;
  const json = { "content-type": "application/json" };
  const body = JSON.stringify({ code: String(link).slice(-32) });
  const signedIn = await fetch(`${api}/session`, { method: "POST", headers: json, body });
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const headers = { ...json, cookie, "x-csrf-token": String((await signedIn.json()).csrfToken) };
  const ask = (path: string, init: RequestInit = {}) => fetch(`${api}/${path}`, { headers, ...init });
  return { child, file, url, ask, hub: String(hub) };
}

const code = `process.env.MY_API_SECRET = "${inFileOnly}"; process.env.WEBHOOK_SECRET_PREVIOUS = "${inFileOnly}";`;
const all = `Object.values(process.env).filter((value) => value.includes("lanted")).join(" ") + " ${planted.INBOX_URL}"`;

const statements = {
  message: `throw new Error(${all});`,
  text: `throw ${all};`,
  object: `throw { all: ${all} };`,
  stack: `throw Object.assign(new Error("no"), { stack: "Error: no " + ${all} + " at " + import.meta.url + ":9:1" });`,
  cause: `throw new Error("no", { cause: new Error(${all}) });`,
  source: `// ${Object.values(planted).join(" ")}\nthrow new Error("no");`,
};

test("C2: secrets in a load error are on no page", async () => {
  const { child, file, url, ask } = await startDevProcess();
  for (const [index, [where, statement]] of Object.entries(statements).entries()) {
    writeFileSync(file, `${code}\n${statement}`);
    const broken = await child.says(/failed to load/, index + 1);
    const page = await fetch(url, { headers: { accept: "text/html" } });
    const texts = {
      page: await page.text(),
      refused: await (await fetch(`${url}/webhooks/target`, { method: "POST" })).text(),
      dev: await (await ask("dev")).text(),
      deliveries: await (await ask("deliveries")).text(),
      event: JSON.stringify(broken),
    };
    expect([where, page.status, JSON.parse(texts.dev).state]).toEqual([where, 503, "broken"]);
    for (const [place, text] of Object.entries(texts)) {
      for (const one of secrets)
        expect([where, place, one, holdsSecret(text, one)]).toEqual([where, place, one, false]);
    }
  }
  writeFileSync(file, working);
  await waitFor(async () => expect((await fetch(url)).status).toBe(200));
});

test("C4: with a proxy in the environment, all requests on this machine are direct", async () => {
  const proxied: string[] = [];
  const proxy = createServer((request, response) => {
    proxied.push(`${request.method} ${request.url}`);
    response.writeHead(502).end();
  }).on("connect", (request, socket) => {
    proxied.push(`CONNECT ${request.url}`);
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  const { url: proxyUrl } = await listen(proxy);
  const environment = { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl };
  // The proxy of the environment is used for other hosts.
  const probe = ["-e", "fetch('http://hub.example').catch(() => {})"];
  const env = { PATH: process.env.PATH, ...environment };
  await runProgram([process.execPath, ...probe], { env });
  expect(proxied.splice(0)).toHaveLength(1);

  const { url, ask, hub } = await startDevProcess(environment);
  const stream = readEvents(await ask("stream"), { timeoutMs: 30_000, signal: undefined });
  const cli = fileURLToPath(new URL("../../dist/cli/bin.js", import.meta.url));
  const run = (...command: string[]) =>
    runProgram([process.execPath, cli, ...command], { env: { ...env, HF_ENDPOINT: hub, HF_TOKEN: "hf_local" } });
  const triggered = await run("trigger", "dataset:local-user/data", "--hub-url", hub);
  expect(triggered).toMatchObject({ code: 0, output: expect.stringContaining("200") });
  expect(await run("list")).toMatchObject({ code: 0, output: expect.stringContaining(`${url}/webhooks/target`) });
  for await (const message of stream) if (JSON.stringify(message).includes('"succeeded"')) break;
  expect(await (await ask("deliveries")).json()).toMatchObject({ deliveries: [{ status: "succeeded" }] });
  expect(proxied).toEqual([]);
});

test("C3: the console opens only files of the project, at a valid position", async () => {
  const { child, file, ask } = await startDevProcess();
  const open = (body: object) => ask("dev/open-editor", { method: "POST", body: JSON.stringify(body) });
  for (const body of [
    ...["/etc/passwd", `file://${file}`, "server.ts", `${file}/../../../etc/passwd`].map((path) => ({ file: path })),
    ...[0, -1, 1.5, 1e21, "1"].flatMap((wrong) => [
      { file, line: wrong },
      { file, line: 1, column: wrong },
    ]),
  ]) {
    expect([body, (await open(body)).status]).toEqual([body, 400]);
  }
  expect((await open({ file, line: 1, column: 1 })).status).toBe(200);
  expect(child.errorOutput).toBe("");
});
