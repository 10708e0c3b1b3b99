// @module-tag slow

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deliveryRequest, webhookPayload } from "../../src/testing.ts";
import { freePort } from "../support/free-port.ts";
import { processEnvironment } from "../support/program.ts";
import { root } from "../support/project-folder.ts";
import { waitFor } from "../support/wait-for.ts";
import { readBlocks } from "./doc-page.ts";

const secret = "s3cret";
const maxPerMinute = 60;

/** Serves the route handlers of a file like Next.js: calls the export named after the method. */
const nextServer = `import { serve } from "@hono/node-server";
const route = await import(process.argv[2]);
const answer = (request) => route[request.method]?.(request) ?? new Response(null, { status: 405 });
serve({ fetch: answer, port: Number(process.env.PORT), hostname: "127.0.0.1" });
`;

const programs = readBlocks("docs/guides/mount.md").flatMap(({ language, mark, text }) =>
  language === "ts" && mark?.name === "file" ? [{ file: mark.value, text }] : [],
);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "docs-mount-"));
  mkdirSync(join(folder, "node_modules/@hono"), { recursive: true });
  for (const name of ["hono", "express", "@hono/node-server"]) {
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  symlinkSync(root, join(folder, "node_modules/hub-webhooks"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(folder, "next-server.js"), nextServer);
  for (const { file, text } of programs) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    // A lower rate limit needs fewer requests.
    writeFileSync(join(folder, file), text.replace("maxPerMinute = 600", `maxPerMinute = ${maxPerMinute}`));
  }
});
const ends: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  await Promise.all(ends.map((end) => end()));
  rmSync(folder, { recursive: true, force: true });
});

interface Program {
  url: string;
  output: () => string;
}

const programsByFile = new Map<string, Promise<Program>>();

/** Returns a program of the page, which runs until all tests are over. */
function run(file: string): Promise<Program> {
  const program = programsByFile.get(file) ?? start(file);
  programsByFile.set(file, program);
  return program;
}

/** Starts a program and collects its output. */
async function start(file: string): Promise<Program> {
  const port = await freePort();
  const script = file.startsWith("app/") ? ["next-server.js", `./${file}`] : [file];
  const program: ChildProcess = spawn(process.execPath, script, {
    cwd: folder,
    env: { ...processEnvironment, PORT: String(port), WEBHOOK_SECRET: secret, CONSOLE_TOKEN: "t0ken-of-the-owner" },
  });
  const ended = new Promise((resolve) => program.once("close", resolve));
  ends.push(() => {
    program.kill("SIGKILL");
    return ended;
  });
  let output = "";
  for (const stream of [program.stdout, program.stderr]) {
    stream?.on("data", (chunk) => {
      output += chunk;
    });
  }
  const url = `http://127.0.0.1:${port}`;
  await waitFor(async () => {
    expect(program.exitCode, output).toBeNull();
    await fetch(url);
  });
  return { url, output: () => output };
}

const post = (url: string) => {
  const { headers } = deliveryRequest({ endpoint: "retrain", payload: webhookPayload("repo"), secret });
  return fetch(url, { method: "POST", headers, body: JSON.stringify(webhookPayload("repo")) });
};

describe("The programs on the page mount.md", () => {
  test("are all tested in this file", () => {
    const files = programs.map(({ file }) => file);
    expect(files).toEqual([...prefixes.map(([file]) => file)]);
  });

  const prefixes = [
    ["middleware.ts", "", "/"],
    ["hono-route.ts", "/hub", "/hub"],
    ["hono-mount.ts", "/hub", "/hub"],
    ["express.ts", "/hub", "/hub"],
    ["app/api/webhooks/[...path]/route.ts", "/api", undefined],
    ["app/hub/[[...path]]/route.ts", "/hub", "/hub"],
  ] as const;

  test.each(prefixes)("%s receives deliveries below %j", async (file, prefix, page) => {
    const { url } = await run(file);
    const delivered = await post(`${url}${prefix}/webhooks/retrain`);
    expect([delivered.status, await delivered.json()]).toEqual([200, { retraining: "acme/data" }]);
    if (page === undefined) return;
    const text = await (await fetch(`${url}${page}`)).text();
    const [, copyable = ""] = /<code id="url-0">(.*?)<\/code>/.exec(text) ?? [];
    const shown = new URL(copyable.replaceAll(/<[^>]*>/g, ""));
    expect(shown.href).toBe(`${url}${prefix}/webhooks/retrain`);
    for (const [, address = ""] of text.matchAll(/(?:href|src)="([^"#:]+)"/g)) {
      const target = new URL(address, `${url}${page}`).href;
      expect([target, (await fetch(target)).status]).toEqual([target, 200]);
    }
  });

  test("express.ts parses the bodies of the app's other routes", async () => {
    const { url } = await run("express.ts");
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${url}/mine`, { method: "POST", headers, body: '{"a":1}' });
    expect(await response.json()).toEqual({ received: { a: 1 } });
  });

  test("middleware.ts sets headers, traces requests, and limits their rate", async () => {
    const { url, output } = await run("middleware.ts");
    const first = await post(`${url}/webhooks/retrain`);
    expect([first.status, first.headers.get("x-content-type-options")]).toEqual([200, "nosniff"]);
    await waitFor(() => expect(output()).toMatch(/^POST \/webhooks\/retrain took \d+ ms$/m));
    const statuses = new Set<number>();
    // Twice as many, because a minute can end meanwhile.
    for (let sent = 0; sent <= 2 * maxPerMinute && !statuses.has(429); sent += 1) {
      statuses.add((await post(`${url}/webhooks/retrain`)).status);
    }
    expect(statuses).toEqual(new Set([200, 429]));
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });
});
