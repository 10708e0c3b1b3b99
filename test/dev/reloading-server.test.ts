import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { describe, expect, onTestFinished, type TestContext, test, vi } from "vitest";
import { ReloadingServer, type ReloadingServerOptions, SourceWatcher } from "../../src/dev/reloading-server.ts";
import { ServerProcess } from "../../src/server-file/server-process.ts";
import { deliveryRequest, webhookPayload } from "../../src/testing.ts";
import { isRunning } from "../support/program.ts";
import { makeProject, type Project } from "../support/project-folder.ts";
import { watchTimers } from "../support/timers.ts";

const pollOptions = { timeout: 15_000, interval: 20 };

/** Returns the source of a server that responds with its own word and an imported one. */
const serverFile = (word: string, more = "") => `
  import { WebhooksServer } from "hub-webhooks";
  import { word } from "./lib/word.ts";
  const server = new WebhooksServer();
  server.webhook("word", () => ["${word}", word]);
  server.webhook("pid", () => process.pid);
  server.webhook("die", () => process.exit(7));
  server.webhook("slow", async () => {
    console.log("slow begins");
    await new Promise((resolve) => setTimeout(resolve, 500));
    return "${word}";
  });
  ${more}
  export default server;`;

const files = { "server.ts": serverFile("one"), "lib/word.ts": 'export const word: string = "first";', "other.ts": "" };

/** Starts a server in this project, closes it after the concurrent test, and records its events. */
function startIn(
  project: Project,
  { expect, onTestFinished }: TestContext,
  options: Partial<ReloadingServerOptions> = {},
) {
  const events: string[] = [];
  const lines: string[] = [];
  const server = new ReloadingServer({
    path: join(project.path, "server.ts"),
    launchResult: { port: 7860, url: "http://localhost:7860", publicUrl: "http://localhost:7860" },
    secret: undefined,
    restartAfterMs: 50,
    onOutput: ({ text }) => lines.push(text),
    onReload: (paths) => events.push(`changed ${paths.map((path) => path.slice(project.path.length + 1)).sort()}`),
    onServing: () => events.push("serves"),
    onBroken: ({ error, isRestarted }) => events.push(`${isRestarted ? "restarts" : "broken"}: ${error.message}`),
    ...options,
  });
  onTestFinished(() => server.close());
  server.start();
  const deliver = async (endpoint: string): Promise<unknown> => {
    const baseUrl = `http://127.0.0.1:${await server.waitForPort()}`;
    return (await fetch(deliveryRequest({ endpoint, payload: webhookPayload("repo"), baseUrl }))).json();
  };
  const until = (event: string) => expect.poll(() => events.at(-1), pollOptions).toContain(event);
  return { server, events, lines, deliver, until };
}

describe.concurrent("A reloading server", () => {
  test("reloads on changes of its file and imports, but not of neighboring files", async (context) => {
    const { expect } = context;
    await using project = await makeProject(files);
    const { events, deliver, until } = startIn(project, context);
    expect(await deliver("word")).toEqual(["one", "first"]);
    const pid = Number(await deliver("pid"));
    expect(isRunning(pid)).toBe(true);
    await project.write("lib/word.ts", 'export const word: string = "second";');
    await expect.poll(() => events.length, pollOptions).toBe(3);
    expect(await deliver("word")).toEqual(["one", "second"]);
    expect(isRunning(pid)).toBe(false);
    await project.write("other.ts", "// Nobody imports it.");
    await project.write("lib/other.json", "{}");
    await project.write("server.ts", serverFile("two"));
    await expect.poll(() => events.length, pollOptions).toBe(5);
    expect(await deliver("word")).toEqual(["two", "second"]);
    // Many editors replace a file, as in the test above. Others write to it.
    writeFileSync(join(project.path, "server.ts"), serverFile("three"));
    await expect.poll(() => events.length, pollOptions).toBe(7);
    expect(await deliver("word")).toEqual(["three", "second"]);
    await until("serves");
    expect(events.filter((event) => event === "serves")).toHaveLength(4);
    expect(events.filter((event) => event.startsWith("changed") && !event.includes("server.ts"))).toEqual([
      "changed lib/word.ts",
    ]);
  });

  test("hands the public URL, the inline deliveries, and the activity over to the next process", async (context) => {
    const { expect } = context;
    await using project = await makeProject(files);
    const consoleToken = "token-of-the-session";
    const { server, events, deliver } = startIn(project, context, { consoleToken });
    const read = async (path: string) => {
      const url = `http://127.0.0.1:${await server.waitForPort()}/_console/api/${path}`;
      return (await fetch(url, { headers: { authorization: `Bearer ${consoleToken}` } })).json();
    };
    await deliver("word");
    const { startedAt } = await read("endpoints");
    server.setPublicUrl("https://quiet-owl-12.loca.lt");
    await project.write("server.ts", serverFile("two"));
    await expect.poll(() => events.length, pollOptions).toBe(3);
    expect(await deliver("word")).toEqual(["two", "first"]);
    expect((await read("deliveries")).totals).toEqual({ succeeded: 2 });
    const list = await read("endpoints");
    expect([list.startedAt, list.endpoints[0].today.deliveries]).toEqual([startedAt, 2]);
    const page = await (await fetch(`http://127.0.0.1:${await server.waitForPort()}/`)).text();
    expect(page.replaceAll(/<[^>]*>/g, "")).toContain("https://quiet-owl-12.loca.lt/webhooks/word");
  });

  test("is broken until its file or a missing import is fixed", async (context) => {
    const { expect } = context;
    await using project = await makeProject(files);
    const { server, events, deliver, until } = startIn(project, context);
    await deliver("word");
    await project.write("server.ts", serverFile("two", "throw new Error('no luck');"));
    await until("broken: server.ts failed to load. Error: no luck");
    await expect(server.waitForPort()).rejects.toMatchObject({ code: "SERVER_FILE_INVALID" });
    await project.write("server.ts", serverFile("two", 'import "./lib/missing.ts";'));
    await until("/lib/missing.ts' imported from");
    await project.write("lib/missing.ts", "export {};");
    await expect.poll(() => events.at(-1), pollOptions).toBe("serves");
    expect(await deliver("word")).toEqual(["two", "first"]);
  });

  test("reloads if a missing import is created during the load", async (context) => {
    const { expect } = context;
    await using project = await makeProject({
      ...files,
      "server.ts": serverFile(
        "one",
        `const { existsSync } = await import("node:fs");
         const isThere = existsSync(new URL("late.ts", import.meta.url));
         console.log("has looked");
         await new Promise((resolve) => setTimeout(resolve, 400));
         if (!isThere) throw new Error("no luck");`,
      ),
    });
    const { lines, events, deliver } = startIn(project, context);
    await expect.poll(() => lines, pollOptions).toContain("has looked");
    await project.write("late.ts", "");
    // On a busy machine, the change may be detected only after the load has failed.
    await expect.poll(() => deliver("word").catch(() => undefined), pollOptions).toEqual(["one", "first"]);
    expect(events.at(-1)).toBe("serves");
  });

  test("is broken if a file that is created during the load does not fix it", async (context) => {
    const { expect } = context;
    await using project = await makeProject({
      "server.ts": `
        import { existsSync } from "node:fs";
        console.log("begins");
        while (!existsSync(new URL("late.ts", import.meta.url))) await new Promise((resolve) => setTimeout(resolve, 10));
        await new Promise((resolve) => setTimeout(resolve, 400));
        throw new Error("no luck");`,
    });
    const { lines, until } = startIn(project, context);
    const loads = () => lines.filter((line) => line === "begins").length;
    await expect.poll(loads, pollOptions).toBe(1);
    await project.write("late.ts", "");
    await expect.poll(loads, pollOptions).toBe(2);
    await until("broken: server.ts failed to load. Error: no luck");
    expect(loads()).toBe(2);
  });

  test("loads the last of several quick changes", async (context) => {
    const { expect } = context;
    await using project = await makeProject(files);
    const { events, deliver } = startIn(project, context);
    await deliver("word");
    await project.write("server.ts", serverFile("two"));
    await expect.poll(() => events.at(-1), pollOptions).toBe("changed server.ts");
    await project.write("server.ts", serverFile("three"));
    await project.write("server.ts", serverFile("four"));
    await expect.poll(() => deliver("word"), pollOptions).toEqual(["four", "first"]);
    expect(events.filter((event) => event.startsWith("broken"))).toEqual([]);
  });

  test("lets a running handler finish, whose delivery the next process shows", async (context) => {
    const { expect } = context;
    await using project = await makeProject(files);
    const consoleToken = "token-of-the-session";
    const { server, lines, deliver, until } = startIn(project, context, { consoleToken });
    const slow = deliver("slow");
    await expect.poll(() => lines, pollOptions).toContain("slow begins");
    await project.write("server.ts", serverFile("two"));
    await until("changed server.ts");
    // Another change while the first server stops must not end its handler.
    await project.write("server.ts", serverFile("three"));
    await expect.poll(() => deliver("word"), pollOptions).toEqual(["three", "first"]);
    expect(await slow).toBe("one");
    const url = `http://127.0.0.1:${await server.waitForPort()}/_console/api/deliveries?endpoint=slow`;
    const { deliveries } = await (await fetch(url, { headers: { authorization: `Bearer ${consoleToken}` } })).json();
    expect(deliveries).toMatchObject([{ status: "succeeded" }]);
  });

  test("restarts if it exits, and requests wait for it", async (context) => {
    const { expect } = context;
    await using project = await makeProject(files);
    const { server, events, deliver } = startIn(project, context);
    await deliver("word");
    await setTimeout(60); // The server has served longer than `restartAfterMs`.
    await expect(deliver("die")).rejects.toThrow();
    await expect
      .poll(() => events.slice(1), pollOptions)
      .toContain(
        "restarts: The server process exited unexpectedly. Check the last lines of the server's output, and fix the cause.",
      );
    expect(await deliver("word")).toEqual(["one", "first"]);
    // The exit of a server that is closed is not reported.
    await server.close();
    expect(events.at(-1)).toBe("serves");
  });

  test("is not restarted before a change if it exits immediately", async (context) => {
    const { expect } = context;
    await using project = await makeProject(files);
    const { server, events, deliver, until } = startIn(project, context, { restartAfterMs: 60_000 });
    await expect(deliver("die")).rejects.toThrow();
    await until("broken: The server process exited unexpectedly");
    await expect(server.waitForPort()).rejects.toMatchObject({ code: "SERVER_FILE_INVALID" });
    await project.write("server.ts", serverFile("two"));
    await until("serves");
    expect(await deliver("word")).toEqual(["two", "first"]);
    expect(events.filter((event) => event === "serves")).toHaveLength(2);
  });

  test("does not wait for an outdated load", async (context) => {
    const { expect } = context;
    await using project = await makeProject({
      ...files,
      // The timer keeps the process alive.
      "server.ts": 'console.log("begins");\nsetInterval(() => {}, 1_000);\nawait new Promise(() => {});\nexport {};',
    });
    const { lines, events, deliver } = startIn(project, context);
    await expect.poll(() => lines, pollOptions).toContain("begins");
    await project.write("server.ts", serverFile("two"));
    await expect.poll(() => events, pollOptions).toEqual(["changed server.ts", "serves"]);
    expect(await deliver("word")).toEqual(["two", "first"]);
  });

  test("can be closed during a load, and then loads no more files", async (context) => {
    const { expect } = context;
    await using project = await makeProject({
      ...files,
      "server.ts": 'console.log("begins");\nawait new Promise(() => {});\nexport {};',
    });
    const { server, lines, events } = startIn(project, context);
    await expect.poll(() => lines, pollOptions).toContain("begins");
    await server.close();
    await project.write("server.ts", serverFile("two"));
    expect(events).toEqual([]);
  });
});

test("A server that is closed while it stops for a reload does not start again", async (context) => {
  await using project = await makeProject(files);
  const starts = vi.spyOn(ServerProcess, "serve");
  onTestFinished(() => starts.mockRestore());
  const { server, lines, deliver, until } = startIn(project, context);
  const slow = deliver("slow");
  await expect.poll(() => lines, pollOptions).toContain("slow begins");
  await project.write("server.ts", serverFile("two"));
  await until("changed server.ts");
  await server.close();
  expect(await slow).toBe("one");
  expect(starts).toHaveBeenCalledOnce();
});

test("A change cancels a scheduled restart", async (context) => {
  await using project = await makeProject(files);
  const timers = watchTimers();
  const restartAfterMs = 765;
  const { deliver, until } = startIn(project, context, { restartAfterMs });
  await deliver("word");
  await setTimeout(restartAfterMs + 10);
  await expect(deliver("die")).rejects.toThrow();
  await until("restarts: The server process exited unexpectedly");
  await project.write("server.ts", serverFile("two"));
  await expect.poll(() => deliver("word"), pollOptions).toEqual(["two", "first"]);
  const restarts = timers.of(restartAfterMs);
  expect(restarts).toHaveLength(1);
  expect(restarts.filter(({ cleared }) => cleared === 0)).toEqual([]);
});

test("Closing cancels a scheduled restart", async (context) => {
  await using project = await makeProject(files);
  const timers = watchTimers();
  const closed = Promise.withResolvers<void>();
  const { server, deliver } = startIn(project, context, {
    restartAfterMs: 51,
    onBroken: () => server.close().then(closed.resolve, closed.reject),
  });
  await deliver("word");
  await setTimeout(60); // The server has served longer than `restartAfterMs`.
  await expect(deliver("die")).rejects.toThrow();
  await closed.promise;
  expect(timers.of(51)).toMatchObject([{ cleared: 1 }]);
});

test("A load that fails while a change settles is repeated before the failure is reported", async (context) => {
  await using project = await makeProject({ "server.ts": 'console.log("begins");\nthrow new Error("no luck");' });
  const isSettling = vi.spyOn(SourceWatcher.prototype, "isSettling", "get").mockReturnValueOnce(true);
  onTestFinished(() => isSettling.mockRestore());
  const { events, lines, until } = startIn(project, context);
  await until("broken");
  expect(lines.filter((line) => line === "begins")).toHaveLength(2);
  expect(events).toHaveLength(1);
});

describe("The source watcher", () => {
  test("ignores a file in a missing folder, and watches the others", async () => {
    await using project = await makeProject({ "lib/a.ts": "" });
    const changes: { paths: readonly string[]; isLoaded: boolean }[] = [];
    const watcher = new SourceWatcher({ onChange: (change) => changes.push(change), settleMs: 5 });
    onTestFinished(() => watcher.close());
    watcher.add(join(project.path, "nowhere", "b.ts"));
    watcher.add(join(project.path, "lib", "a.ts"));
    await project.write("lib/a.ts", "changed");
    await expect.poll(() => changes).toContainEqual({ paths: [join(project.path, "lib/a.ts")], isLoaded: true });
    await project.write("lib/new.ts", "");
    await expect.poll(() => changes).toContainEqual({ paths: [join(project.path, "lib/new.ts")], isLoaded: false });
  });

  test("reports only loaded files if other files in the folder changed at the same time", async () => {
    await using project = await makeProject({ "a.ts": "", "a.test.ts": "" });
    const onChange = vi.fn();
    const watcher = new SourceWatcher({ onChange, settleMs: 50 });
    onTestFinished(() => watcher.close());
    const path = join(project.path, "a.ts");
    watcher.add(path);
    writeFileSync(join(project.path, "a.test.ts"), "changed");
    writeFileSync(path, "changed");
    await expect.poll(() => onChange.mock.calls).toEqual([[{ paths: [path], isLoaded: true }]]);
  });

  test("reports changes once if they are detected late", async () => {
    await using project = await makeProject({ "lib/a.ts": "" });
    const path = join(project.path, "lib", "a.ts");
    const onChange = vi.fn();
    const settleMs = 50;
    const watcher = new SourceWatcher({ onChange, settleMs });
    onTestFinished(() => watcher.close());
    watcher.add(path);
    writeFileSync(path, "first");
    while (!watcher.isSettling) await setImmediate();
    writeFileSync(path, "second");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * settleMs);
    await expect.poll(() => onChange).toHaveBeenCalled();
    await setTimeout(4 * settleMs);
    expect(onChange.mock.calls).toEqual([[{ paths: [path], isLoaded: true }]]);
  });

  test("waits until changes have settled, and reports no changes after close()", async () => {
    await using project = await makeProject({ "lib/a.ts": "", "lib/b.ts": "" });
    const timers = watchTimers();
    const watcher = new SourceWatcher({ onChange: () => expect.unreachable("It has settled."), settleMs: 54_321 });
    onTestFinished(() => watcher.close());
    watcher.add(join(project.path, "lib", "a.ts"));
    expect(watcher.isSettling).toBe(false);
    for (const name of ["a", "b"]) {
      const before = timers.of(54_321).length;
      await project.write(`lib/${name}.ts`, "changed");
      await expect.poll(() => timers.of(54_321).length).toBeGreaterThan(before);
    }
    expect(watcher.isSettling).toBe(true);
    watcher.close();
    expect(timers.of(54_321).filter(({ cleared }) => cleared === 0)).toEqual([]);
  });

  test("watches no files after close(), even if files are added late", async () => {
    const module = new URL("../../src/dev/reloading-server.ts", import.meta.url).href;
    const script = `
      import { SourceWatcher } from ${JSON.stringify(module)};
      const watcher = new SourceWatcher({ onChange() {} });
      watcher.add(process.execPath);
      watcher.close();
      watcher.add(process.execPath);`;
    // A file watcher would keep the process alive.
    const child = spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    expect(await once(child, "exit")).toEqual([0, null]);
  });
});
