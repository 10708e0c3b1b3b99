// @module-tag slow

import { fork, spawn } from "node:child_process";
import { getEventListeners, once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { describeServerFile, ServerProcess } from "../../src/server-file/server-process.ts";
import { deliveryRequest, webhookPayload } from "../../src/testing.ts";
import { startFullProcess } from "../cli/command-process.ts";
import { isRunning } from "../support/program.ts";
import { makeProject, type Project } from "../support/project-folder.ts";
import { watchTimers } from "../support/timers.ts";
import { waitFor } from "../support/wait-for.ts";

const launchResult = { port: 7860, url: "http://localhost:7860", publicUrl: "https://quiet-owl-12.loca.lt" };

const servingFile = `
  import { WebhooksServer } from "hub-webhooks";
  const server = new WebhooksServer({ secret: "the file's own" });
  let finish = () => {};
  server.webhook("retrain", () => "done " + process.env.ADDED);
  server.webhook("slow", async (payload) => {
    console.log("slow begins");
    await new Promise<void>((resolve) => { finish = resolve; });
    return "finished";
  });
  server.webhook("finish", () => { setTimeout(finish, 50); });
  server.webhook("die", () => process.exit(7));
  server.webhook("throw", () => { setTimeout(() => { throw new Error("thrown later"); }); });
  console.log("pid " + process.pid);
  console.log("inbox " + process.env.INBOX_URL);
  export default server;
  console.log(JSON.stringify(await server.launch()));
`;

/** Returns the process ID that a server file printed. */
function processIn(lines: readonly string[]): number {
  return Number(lines.find((line) => line.startsWith("pid "))?.slice(4));
}

const deliver = (port: number, endpoint: string, secret = "the session's") =>
  fetch(deliveryRequest({ endpoint, payload: webhookPayload("repo"), baseUrl: `http://127.0.0.1:${port}`, secret }));

/** Removes the variables that make a child process of this test a test run, in which servers do not handle signals. */
function removeTestRunner(): void {
  vi.stubEnv("NODE_ENV", undefined);
  vi.stubEnv("VITEST", undefined);
}

let project: Project;
beforeAll(async () => {
  project = await makeProject({
    "server.ts": servingFile,
    "stuck.ts": "console.log('pid ' + process.pid);\nawait new Promise(() => {});\nexport {};",
    "busy.ts": "console.log('pid ' + process.pid);\nfor (;;) {}\nexport {};",
    "slow-exit.ts": `
      console.log("pid " + process.pid);
      process.on("exit", () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100));
      throw new Error("no luck");
      export {};`,
    "not-a-database": "This is not a SQLite database.".repeat(100),
    "background.ts": `
      import { WebhooksServer } from "hub-webhooks";
      const server = new WebhooksServer({ secret: false });
      server.webhook("retrain", { background: true }, () => {});
      server.webhook("reject", () => { void Promise.reject(new Error("rejected later")); return "done"; });
      export default server;`,
    "failing.ts": `
      import { WebhooksServer } from "hub-webhooks";
      const server = new WebhooksServer({ inbox: "sqlite::memory:" });
      server.webhook("failing", { background: true, backoff: ["1h"] }, () => { throw new Error("not yet"); });
      server.app.get("/stored", async (context) => context.json(await server.inbox.list()));
      export default server;`,
    "leaving-a-child.ts": `
      import { fork, spawn } from "node:child_process";
      import { WebhooksServer } from "hub-webhooks";
      const child = spawn(process.execPath, ["--eval", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
      console.log("pid " + child.pid);
      export default new WebhooksServer();
      console.log("the last line");`,
  });
});
afterAll(() => project[Symbol.asyncDispose]());

function serve(file: string, options: Partial<Parameters<typeof ServerProcess.serve>[0]> = {}) {
  const lines: string[] = [];
  const started = ServerProcess.serve({
    ...{ path: join(project.path, file), launchResult, secret: { text: "the session's", mode: "replace" } },
    onOutput: ({ text }) => lines.push(text),
    ...options,
  });
  onTestFinished(() => started.kill());
  return { started, lines };
}

describe("ServerProcess", () => {
  test("retries a background delivery within seconds, regardless of its backoff", async () => {
    const { port } = await serve("failing.ts").started.serving();
    const sentAt = Date.now();
    expect((await deliver(port, "failing")).status).toBe(202);
    const dueAt = await waitFor(
      async () => {
        const response = await fetch(`http://127.0.0.1:${port}/stored`);
        const stored = z.object({
          deliveries: z.tuple([z.object({ dueAt: z.iso.datetime(), attempts: z.tuple([z.object({})]) })]),
        });
        return Date.parse(stored.parse(await response.json()).deliveries[0].dueAt);
      },
      { interval: 10 },
    );
    expect(dueAt - Date.now()).toBeLessThanOrEqual(5_000);
    expect(dueAt).toBeGreaterThanOrEqual(sentAt);
  });

  test("serves on its own port, with the given secret and variables", async () => {
    const loaded: string[] = [];
    const { started, lines } = serve("server.ts", {
      environment: { ADDED: "variable" },
      onLoading: (path) => loaded.push(path),
    });
    const { port, description } = await started.serving();
    expect(description.secret).toBe("the session's");
    expect(loaded).toContain(join(project.path, "server.ts"));
    expect(await (await deliver(port, "retrain")).json()).toBe("done variable");
    expect((await deliver(port, "retrain", "the file's own")).status).toBe(403);
    const page = async () => (await (await fetch(`http://127.0.0.1:${port}/`)).text()).replaceAll("<wbr>", "");
    expect(await page()).toContain("https://quiet-owl-12.loca.lt/webhooks/");
    started.setPublicUrl("https://loud-owl-13.loca.lt");
    await expect.poll(page).toContain("https://loud-owl-13.loca.lt/webhooks/");
    expect(JSON.parse(lines.find((line) => line.startsWith("{")) ?? "")).toEqual(launchResult);
    expect(lines.join("\n")).not.toContain("The server is ready");
    started.kill();
    await started.ended;
  });

  test("keeps the secret of the file for `fallback`, and sets INBOX_URL to the inbox of the session", async () => {
    const { started, lines } = serve("server.ts", {
      secret: { text: "the session's", mode: "fallback" },
      inbox: "sqlite::memory:",
    });
    const { description } = await started.serving();
    expect(description.secret).toBe("the file's own");
    // The output can arrive after the report of the process.
    await expect.poll(() => lines).toContain("inbox sqlite::memory:");
  });

  test("reports why the server does not launch, outside a test runner", async () => {
    removeTestRunner();
    const { started } = serve("background.ts", { inbox: `sqlite:${join(project.path, "not-a-database")}` });
    await expect(started.serving()).rejects.toMatchObject({
      code: "SERVER_FILE_INVALID",
      message: expect.stringMatching(/^background\.ts failed to load\. .*not-a-database/),
    });
  });

  test("logs an unhandled rejection and keeps running, outside a test runner", async () => {
    removeTestRunner();
    const { started, lines } = serve("background.ts", { inbox: "sqlite::memory:", secret: undefined });
    const { port } = await started.serving();
    expect(await (await deliver(port, "reject")).json()).toBe("done");
    await expect.poll(() => lines.join("\n")).toContain("rejected later");
    expect(await (await deliver(port, "reject")).json()).toBe("done");
  });

  test("prints an uncaught error of a running server, and exits", async () => {
    const { started, lines } = serve("server.ts");
    const { port } = await started.serving();
    await deliver(port, "throw").catch(() => {}); // The process may exit before it responds.
    await started.ended;
    expect(lines.join("\n")).toContain("Error: thrown later");
  });

  test("has exited when the failure of its file is reported", async () => {
    const { started, lines } = serve("slow-exit.ts");
    await expect(started.serving()).rejects.toMatchObject({ code: "SERVER_FILE_INVALID" });
    expect(isRunning(processIn(lines))).toBe(false);
    const described: string[] = [];
    const onOutput = ({ text }: { text: string }) => described.push(text);
    await expect(describeServerFile(join(project.path, "slow-exit.ts"), { onOutput })).rejects.toMatchObject({
      code: "SERVER_FILE_INVALID",
    });
    expect(processIn(described)).toBeGreaterThan(0);
    expect(isRunning(processIn(described))).toBe(false);
  });

  test("reports that it cannot be started", async () => {
    const { execPath } = process;
    onTestFinished(() => {
      process.execPath = execPath;
    });
    process.execPath = "/no/such/node";
    const { started } = serve("server.ts");
    await expect(started.serving()).rejects.toMatchObject({ code: "ENOENT" });
    await started.ended;
    await expect(describeServerFile(join(project.path, "server.ts"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("reports that no more files can be opened, and can be stopped", async () => {
    const { ended } = startFullProcess("server", join(project.path, "server.ts"));
    expect(await ended).toMatchObject({ exitCode: 0, stdout: "EMFILE\n0\n" });
  });

  test("waits for running handlers on stop, then exits", async () => {
    const { started, lines } = serve("server.ts");
    const { port } = await started.serving();
    const slow = deliver(port, "slow");
    await expect.poll(() => lines).toContain("slow begins");
    await deliver(port, "finish");
    const stopped = started.stop();
    expect(await (await slow).json()).toBe("finished");
    await stopped;
    expect(isRunning(processIn(lines))).toBe(false);
    await started.stop();
  });

  test("resolves ended when it exits by itself", async () => {
    const { started } = serve("server.ts");
    const { port } = await started.serving();
    await expect(deliver(port, "die")).rejects.toThrow();
    await started.ended;
  });

  test("can be stopped while it loads", async () => {
    const timers = watchTimers();
    const { started, lines } = serve("stuck.ts");
    await expect.poll(() => processIn(lines)).toBeGreaterThan(0);
    const exits = process.listenerCount("exit");
    await started.stop();
    expect(isRunning(processIn(lines))).toBe(false);
    // Both the timer that would kill it and the listener on the exit of this process are removed.
    expect(timers.of(5_000)).toMatchObject([{ cleared: 1 }]);
    expect(timers.of(500)).toMatchObject([{ cleared: 1 }]);
    expect(process.listenerCount("exit")).toBe(exits - 1);
    await expect(started.serving()).rejects.toMatchObject({ code: "SERVER_FILE_INVALID" });
  });

  test("ends even if a grandchild keeps its output open", async () => {
    const { started, lines } = serve("leaving-a-child.ts");
    await started.serving();
    await expect.poll(() => processIn(lines)).toBeGreaterThan(0);
    const child = processIn(lines);
    onTestFinished(() => void process.kill(child, "SIGKILL"));
    await started.stop();
    expect(isRunning(child)).toBe(true);
    expect(lines).toContain("the last line");
  });

  test.for(["stuck.ts", "busy.ts"])("is killed when the signal of describeServerFile is aborted: %s", async (file) => {
    const stopping = new AbortController();
    const lines: string[] = [];
    const described = describeServerFile(join(project.path, file), {
      signal: stopping.signal,
      onOutput: ({ text }) => {
        lines.push(text);
        stopping.abort(new Error("no longer wanted"));
      },
    });
    await expect(described).rejects.toThrow("no longer wanted");
    expect(isRunning(processIn(lines))).toBe(false);
    expect(getEventListeners(stopping.signal, "abort")).toEqual([]);
    const late = describeServerFile(join(project.path, "server.ts"), { signal: stopping.signal });
    await expect(late).rejects.toThrow("no longer wanted");
  });

  test("is killed when a file that is only described does not finish loading", async () => {
    const { setTimeout } = globalThis;
    const lines: string[] = [];
    const shortened = vi
      .spyOn(globalThis, "setTimeout")
      .mockImplementation(((run: () => void, ms = 0) =>
        setTimeout(run, ms === 60_000 ? 500 : ms)) as typeof setTimeout);
    onTestFinished(() => shortened.mockRestore());
    await expect(
      describeServerFile(join(project.path, "stuck.ts"), { onOutput: ({ text }) => lines.push(text) }),
    ).rejects.toMatchObject({ code: "SERVER_FILE_INVALID", message: expect.stringContaining("never settles") });
    expect(lines.every((line) => !isRunning(processIn([line])))).toBe(true);
  });

  test("exits if its parent disconnects before it has loaded", async () => {
    const child = fork(new URL("../../src/server-file/server-process-child.ts", import.meta.url), { stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    const path = join(project.path, "server.ts");
    await new Promise((resolve) => child.send({ type: "serve", path, launchResult }, resolve));
    child.disconnect();
    await once(child, "exit");
  });

  test("exits when its parent is killed", async () => {
    const script = fileURLToPath(new URL("describing-process.ts", import.meta.url));
    const parent = spawn(process.execPath, [script, join(project.path, "server.ts")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void parent.kill("SIGKILL"));
    const lines: string[] = [];
    for await (const line of createInterface({ input: parent.stdout })) {
      lines.push(line);
      if (["serving ", "pid "].every((begun) => lines.some((line) => line.startsWith(begun)))) break;
    }
    const pid = processIn(lines);
    expect(isRunning(pid)).toBe(true);
    parent.kill("SIGKILL");
    await once(parent, "exit");
    // Its socket closes with it. Another process can use the port by then.
    await expect.poll(() => isRunning(pid)).toBe(false);
  });
});
