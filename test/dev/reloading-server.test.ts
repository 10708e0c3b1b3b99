// @module-tag slow

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, onTestFinished, type TestContext, test, vi } from "vitest";
import { ReloadingServer, type ReloadingServerOptions, SourceWatcher } from "../../src/dev/reloading-server.ts";
import { ServerProcess } from "../../src/server-file/server-process.ts";
import { deliveryRequest, webhookPayload } from "../../src/testing.ts";
import { isRunning } from "../support/program.ts";
import { makeProject } from "../support/project-folder.ts";
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

/** Starts a server in a new project, closes it after the concurrent test, and records its events. */
async function open(
  { expect, onTestFinished }: TestContext,
  { sources = files, ...options }: Partial<ReloadingServerOptions> & { sources?: Record<string, string> } = {},
) {
  const project = await makeProject(sources);
  onTestFinished(() => project[Symbol.asyncDispose]());
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
  server.load();
  const deliver = async (endpoint: string): Promise<unknown> => {
    const baseUrl = `http://127.0.0.1:${await server.waitForPort()}`;
    return (await fetch(deliveryRequest({ endpoint, payload: webhookPayload("repo"), baseUrl }))).json();
  };
  const until = (event: string) => expect.poll(() => events.at(-1), pollOptions).toContain(event);
  return { expect, project, server, events, lines, deliver, until };
}

describe.concurrent("A reloading server", () => {
  test("reloads on changes of its file and imports, but not of neighboring files", async (context) => {
    const { expect, project, events, deliver, until } = await open(context);
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
    const consoleToken = "token-of-the-session";
    const { expect, project, server, events, deliver } = await open(context, { consoleToken });
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
    const { expect, project, server, events, deliver, until } = await open(context);
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
    const sources = {
      ...files,
      "server.ts": serverFile(
        "one",
        `const { existsSync } = await import("node:fs");
         const isThere = existsSync(new URL("late.ts", import.meta.url));
         console.log("has looked");
         await new Promise((resolve) => setTimeout(resolve, 400));
         if (!isThere) throw new Error("no luck");`,
      ),
    };
    const { expect, project, lines, events, deliver } = await open(context, { sources });
    await expect.poll(() => lines, pollOptions).toContain("has looked");
    await project.write("late.ts", "");
    // On a busy machine, the change may be detected only after the load has failed.
    await expect.poll(() => deliver("word").catch(() => undefined), pollOptions).toEqual(["one", "first"]);
    expect(events.at(-1)).toBe("serves");
  });

  test("is broken if a file that is created during the load does not fix it", async (context) => {
    const sources = {
      "server.ts": `
        import { existsSync } from "node:fs";
        console.log("begins");
        while (!existsSync(new URL("late.ts", import.meta.url))) await new Promise((resolve) => setTimeout(resolve, 10));
        await new Promise((resolve) => setTimeout(resolve, 400));
        throw new Error("no luck");`,
    };
    const { expect, project, lines, until } = await open(context, { sources });
    const loads = () => lines.filter((line) => line === "begins").length;
    await expect.poll(loads, pollOptions).toBe(1);
    await project.write("late.ts", "");
    await expect.poll(loads, pollOptions).toBe(2);
    await until("broken: server.ts failed to load. Error: no luck");
    expect(loads()).toBe(2);
  });

  test("loads the last of several quick changes", async (context) => {
    const { expect, project, events, deliver } = await open(context);
    await deliver("word");
    await project.write("server.ts", serverFile("two"));
    await expect.poll(() => events.at(-1), pollOptions).toBe("changed server.ts");
    await project.write("server.ts", serverFile("three"));
    await project.write("server.ts", serverFile("four"));
    await expect.poll(() => deliver("word"), pollOptions).toEqual(["four", "first"]);
    expect(events.filter((event) => event.startsWith("broken"))).toEqual([]);
  });

  test("lets a running handler finish, whose delivery the next process shows", async (context) => {
    const consoleToken = "token-of-the-session";
    const { expect, project, server, lines, deliver, until } = await open(context, { consoleToken });
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
    const { expect, server, events, deliver } = await open(context);
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
    const { expect, project, server, events, deliver, until } = await open(context, { restartAfterMs: 60_000 });
    await expect(deliver("die")).rejects.toThrow();
    await until("broken: The server process exited unexpectedly");
    await expect(server.waitForPort()).rejects.toMatchObject({ code: "SERVER_FILE_INVALID" });
    await project.write("server.ts", serverFile("two"));
    await until("serves");
    expect(await deliver("word")).toEqual(["two", "first"]);
    expect(events.filter((event) => event === "serves")).toHaveLength(2);
  });

  test("does not wait for an outdated load", async (context) => {
    const sources = {
      ...files,
      // The timer keeps the process alive.
      "server.ts": 'console.log("begins");\nsetInterval(() => {}, 1_000);\nawait new Promise(() => {});\nexport {};',
    };
    const { expect, project, lines, events, deliver } = await open(context, { sources });
    await expect.poll(() => lines, pollOptions).toContain("begins");
    await project.write("server.ts", serverFile("two"));
    await expect.poll(() => events, pollOptions).toEqual(["changed server.ts", "serves"]);
    expect(await deliver("word")).toEqual(["two", "first"]);
  });

  test("can be closed during a load, and then loads no more files", async (context) => {
    const sources = {
      ...files,
      "server.ts": 'console.log("begins");\nawait new Promise(() => {});\nexport {};',
    };
    const { expect, project, server, lines, events } = await open(context, { sources });
    await expect.poll(() => lines, pollOptions).toContain("begins");
    await server.close();
    await project.write("server.ts", serverFile("two"));
    expect(events).toEqual([]);
  });
});

test("A server that is closed while it stops for a reload does not start again", async (context) => {
  const starts = vi.spyOn(ServerProcess, "serve");
  onTestFinished(() => starts.mockRestore());
  const { project, server, lines, deliver, until } = await open(context);
  const slow = deliver("slow");
  await expect.poll(() => lines, pollOptions).toContain("slow begins");
  await project.write("server.ts", serverFile("two"));
  await until("changed server.ts");
  await server.close();
  expect(await slow).toBe("one");
  expect(starts).toHaveBeenCalledOnce();
});

test("A change cancels a scheduled restart", async (context) => {
  const timers = watchTimers();
  const restartAfterMs = 765;
  const { project, deliver, until } = await open(context, { restartAfterMs });
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
  const timers = watchTimers();
  const closed = Promise.withResolvers<void>();
  const { server, deliver } = await open(context, {
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
  const sources = { "server.ts": 'console.log("begins");\nthrow new Error("no luck");' };
  const isSettling = vi.spyOn(SourceWatcher.prototype, "isSettling", "get").mockReturnValueOnce(true);
  onTestFinished(() => isSettling.mockRestore());
  const { events, lines, until } = await open(context, { sources });
  await until("broken");
  expect(lines.filter((line) => line === "begins")).toHaveLength(2);
  expect(events).toHaveLength(1);
});

test("A process that cannot be started is reported, and the next change starts another one", async (context) => {
  const serve = vi.spyOn(ServerProcess, "serve").mockImplementationOnce(() => {
    throw Object.assign(new Error("spawn ENOMEM"), { code: "ENOMEM" });
  });
  onTestFinished(() => serve.mockRestore());
  const { project, deliver, until } = await open(context);
  await until("broken: The server process could not be started");
  await project.write("server.ts", serverFile("two"));
  await until("serves");
  expect(await deliver("word")).toEqual(["two", "first"]);
});
