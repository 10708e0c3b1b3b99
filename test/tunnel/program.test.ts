// @module-tag slow

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { cloudflared, ngrok } from "../../src/tunnel/program.ts";
import { createReachabilityCheck } from "../../src/tunnel/reachability-check.ts";
import { openReconnectingTunnel, openTunnel } from "../../src/tunnel/tunnel.ts";
import { isRunning } from "../support/program.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { watchTimers } from "../support/timers.ts";
import { createManualClock, newestProcess, recordEvents, runningProcesses, startLocalServer } from "./support.ts";

/** A fake `cloudflared` or `ngrok`. It is first on PATH until the end of its scope. */
interface FakeProgram extends AsyncDisposable {
  /** The process IDs of all starts, newest last. */
  processes(): Promise<number[]>;
  /** The arguments and the names of the environment variables of each start. */
  starts(): Promise<{ arguments: string[]; environment: string[] }[]>;
  /** Whether one of its processes is running. */
  isAlive(): Promise<boolean>;
  /** Whether a process has run its whole body, including its output. */
  hasRun(): boolean;
  /** Whether its body has called `markStopped()`. */
  hasStopped(): boolean;
  /** Sets the body of later starts. */
  become(body: string): Promise<void>;
}

/**
 * Creates an executable Node script of this name in a folder that is first on PATH, or in `folder`. It records its
 * start, runs `body`, and then stays alive.
 */
async function installProgram(name: string, body: string, folder?: string): Promise<FakeProgram> {
  const home = await mkdtemp(join(tmpdir(), "stand-in-program-"));
  const target = folder ?? home;
  const log = join(home, "starts.log");
  const stopped = join(home, "left");
  const end = join(home, "run");
  await mkdir(target, { recursive: true });
  const become = async (next: string) => {
    await writeFile(
      join(target, name),
      `#!${process.execPath}
      require("node:fs").appendFileSync(${JSON.stringify(log)}, JSON.stringify({ pid: process.pid, arguments: process.argv.slice(2), environment: Object.keys(process.env) }) + "\\n");
      const markStopped = () => require("node:fs").writeFileSync(${JSON.stringify(stopped)}, "");
      setInterval(() => {}, 1000);
      ${next}
      require("node:fs").writeFileSync(${JSON.stringify(end)}, "");`,
    );
    await chmod(join(target, name), 0o755);
  };
  await become(body);
  if (folder === undefined) vi.stubEnv("PATH", `${home}${delimiter}${process.env.PATH}`);
  const starts = async () => {
    const text = await readFile(log, "utf8").catch(() => "");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  };
  const processes = async () => (await starts()).map(({ pid }) => Number(pid));
  return {
    starts,
    processes,
    become,
    hasRun: () => existsSync(end),
    hasStopped: () => existsSync(stopped),
    isAlive: async () => (await processes()).some(isRunning),
    async [Symbol.asyncDispose]() {
      vi.unstubAllEnvs();
      for (const pid of (await processes()).filter(isRunning)) process.kill(pid, "SIGKILL");
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The output of cloudflared on stderr when its tunnel opens. */
const cloudflaredLines = (name = "quiet-owl-runs-far") => `
  for (const line of [
    "2026-01-12T15:41:13Z INF Thank you for trying Cloudflare Tunnel. Doing so, without a Cloudflare account, is a quick way to experiment and try it out. (https://www.cloudflare.com/website-terms/)",
    "2026-01-12T15:41:13Z INF Requesting new quick Tunnel on trycloudflare.com...",
    "2026-01-12T15:41:16Z INF +--------------------------------------------------------------+",
    "2026-01-12T15:41:16Z INF |  Your quick Tunnel has been created! Visit it at (it may take some time to be reachable):  |",
    "2026-01-12T15:41:16Z INF |  https://${name}.trycloudflare.com                            |",
    "2026-01-12T15:41:16Z INF +--------------------------------------------------------------+",
    "2026-01-12T15:41:17Z INF Registered tunnel connection connIndex=0 connection=8f2c event=0 ip=198.41.200.13 location=ams07 protocol=quic",
  ]) console.error(line);`;

const ngrokUrl = "https://1a2b-203-0-113-7.ngrok-free.app";

/** The output of ngrok on stdout when its tunnel opens. */
const ngrokLines = `
  for (const entry of [
    { lvl: "info", msg: "no configuration paths supplied" },
    { addr: "127.0.0.1:4040", lvl: "info", msg: "starting web service", obj: "web", url: "https://wrong.example" },
    { lvl: "info", msg: "client session established", obj: "csess" },
    { addr: "http://127.0.0.1:1", lvl: "info", msg: "started tunnel", name: "command_line", obj: "tunnels", url: "${ngrokUrl}" },
  ]) console.log(JSON.stringify(entry));`;

/** A secret in hostile output: it must not appear in any error. */
const planted = "planted-t0ken";
const hostileLines = `console.log("\\u001b[2J<html>${planted}</html>"); console.error("\\u001b[2J<html>${planted}</html>");`;

/** Opens a tunnel that fails, at the latest by its timeout once the program has run. */
async function failureOf(provider: "cloudflared" | "ngrok", program?: FakeProgram): Promise<unknown> {
  const clock = createManualClock();
  let hasFailed = false;
  const failing = openReconnectingTunnel({ provider, port: 1 }, { clock })
    .then(
      () => new Error("The tunnel was opened."),
      (error: unknown) => error,
    )
    .finally(() => {
      hasFailed = true;
    });
  await expect.poll(() => hasFailed || program?.hasRun()).toBe(true);
  if (!hasFailed) await clock.expire(provider === "cloudflared" ? 30_000 : 15_000);
  return failing;
}

describe("A tunnel of cloudflared", () => {
  test("has the URL that the program prints, and passes the port to the program", async () => {
    await using program = await installProgram("cloudflared", cloudflaredLines());
    await using tunnel = await openTunnel({ provider: "cloudflared", port: 7860 });
    expect(tunnel.url).toBe("https://quiet-owl-runs-far.trycloudflare.com");
    expect((await program.starts()).map((start) => start.arguments)).toEqual([
      ["tunnel", "--no-autoupdate", "--url", "http://127.0.0.1:7860"],
    ]);
  });

  test.each([
    [
      `console.error('ERR Error unmarshaling QuickTunnel response: error code: 1015 status_code="429 Too Many Requests" ${planted}'); process.exit(1)`,
      /cloudflared exited with code 1 before it printed a URL. .* too many requests \(429\)/,
    ],
    [`process.kill(process.pid, "SIGSEGV")`, /exited with code 1 before it printed a URL/],
    [hostileLines, /cloudflared did not print a URL in time/],
  ])("fails with the reason if the program gets no tunnel: %#", async (body, reason) => {
    await using program = await installProgram("cloudflared", body);
    const error = await failureOf("cloudflared", program);
    expect(error).toMatchObject({
      code: "TUNNEL_FAILED",
      retryable: true,
      message: expect.stringMatching(reason),
    });
    expect(String(error)).toMatch(
      /choose another provider \(.*TUNNEL=.*\), or run your own tunnel and set its URL \(PUBLIC_URL/,
    );
    expect(inspect(error)).not.toContain(planted);
    expect(await program.isAlive()).toBe(false);
  });

  test("may take 30 s to open, other providers 15 s", async () => {
    await using _cloudflared = await installProgram("cloudflared", cloudflaredLines());
    await using _ngrok = await installProgram("ngrok", ngrokLines);
    const clock = createManualClock();
    const timers = watchTimers();
    await (await openReconnectingTunnel({ provider: "cloudflared", port: 1 }, { clock })).close();
    await (await openReconnectingTunnel({ provider: "ngrok", port: 1 }, { clock })).close();
    expect(clock.deadlines).toEqual([30_000, 15_000]);
    // The timer that would kill the worker is cleared.
    expect(timers.of(3_000)).toMatchObject([{ cleared: 1 }, { cleared: 1 }]);
  });
});

describe("The process of a tunnel's program", () => {
  test("that cannot be started is a failure", async () => {
    await using program = await installProgram("cloudflared", cloudflaredLines());
    const { execPath } = process;
    process.execPath = "/nowhere/node";
    onTestFinished(() => {
      process.execPath = execPath;
    });
    expect(await failureOf("cloudflared", program)).toMatchObject({
      code: "TUNNEL_FAILED",
      message: expect.stringContaining("exited before it printed a URL"),
    });
  });

  test("may end without a line break: its last line has the reason", async () => {
    const body = `process.stderr.write('failed to request quick Tunnel: no such host', () => process.exit(1))`;
    await using program = await installProgram("cloudflared", body);
    expect(await failureOf("cloudflared", program)).toMatchObject({
      message: expect.stringContaining("did not provide a tunnel"),
    });
  });
});

describe("A tunnel of ngrok", () => {
  test("has the URL of the line that reports the tunnel", async () => {
    await using program = await installProgram("ngrok", ngrokLines);
    await using tunnel = await openTunnel({ provider: "ngrok", port: 7860 });
    expect(tunnel.url).toBe(ngrokUrl);
    expect((await program.starts()).map((start) => start.arguments)).toEqual([
      ["http", "127.0.0.1:7860", "--log", "stdout", "--log-format", "json"],
    ]);
  });

  test("reports the error code of ngrok and nothing else of its output", async () => {
    const entry = { err: `Your authtoken: ${planted}\r\n\r\nERR_NGROK_105\r\n`, lvl: "eror", msg: "failed to auth" };
    await using program = await installProgram("ngrok", `console.log(${JSON.stringify(JSON.stringify(entry))});`);
    const error = await failureOf("ngrok", program);
    expect(error).toMatchObject({
      code: "TUNNEL_FAILED",
      message: expect.stringContaining("ngrok did not print a URL in time"),
    });
    expect(String(error)).toContain("ngrok reported ERR_NGROK_105. See https://ngrok.com/docs/errors/err_ngrok_105.");
    expect(inspect(error)).not.toContain(planted);
    expect(await program.isAlive()).toBe(false);
  });
});

describe("The lines of a program", () => {
  const name = "https://quiet-owl.trycloudflare.com";
  const registered = "INF Registered tunnel connection connIndex=0 connection=8f2c";
  const started = (url: unknown) => JSON.stringify({ msg: "started tunnel", url });

  test.each([
    [cloudflared, "a name and its connection", [name, registered], { url: name }],
    [cloudflared, "a connection of an older version", [name, "Connection 6a1f registered connIndex=0"], { url: name }],
    [cloudflared, "another host", [`${name}.planted.example`, registered], {}],
    [cloudflared, "the API", ["https://api.trycloudflare.com", registered], {}],
    [
      cloudflared,
      "a name without a connection",
      [name, registered.replace("Registered", "Unregistered")],
      { hint: expect.stringMatching(/not connected .* blocks port 7844/) },
    ],
    [
      cloudflared,
      "a service that is down",
      ['failed to request quick Tunnel: Post "https://api.trycloudflare.com/tunnel": no such host'],
      { hint: expect.stringMatching(/^trycloudflare\.com did not provide a tunnel/) },
    ],
    [cloudflared, "other text", ["INF Requesting new quick Tunnel"], {}],
    [ngrok, "a tunnel", [started(ngrokUrl)], { url: ngrokUrl }],
    [ngrok, "a URL that is not https", [started("javascript:alert(1)")], {}],
    [ngrok, "no URL", [started(undefined)], {}],
    [ngrok, "text", ["started tunnel"], {}],
    [ngrok, "a string", ['"started tunnel"'], {}],
    [ngrok, "null", ["null started tunnel"], {}],
  ])("of $name are parsed: %s", (program, _what, lines, expected) => {
    const parse = program.createLineParser();
    expect(lines.map((line) => parse(line)).at(-1)).toEqual({ url: undefined, hint: undefined, ...expected });
  });
});

describe("A tunnel's program", () => {
  test.each(["cloudflared", "ngrok"] as const)(
    "that is not installed is reported with its download page: %s",
    async (name) => {
      vi.stubEnv("PATH", "/nowhere");
      const error = await failureOf(name);
      vi.unstubAllEnvs();
      expect(error).toMatchObject({
        code: "TUNNEL_FAILED",
        retryable: false,
        message: expect.stringMatching(
          new RegExp(
            `^${name} was not found on PATH or in node_modules/.bin. Install ${name} \\(https://[a-z./_-]+\\)`,
          ),
        ),
      });
      expect(error).not.toMatchObject({ message: expect.stringContaining(`TUNNEL=${name}`) });
      expect(error).toMatchObject({ message: expect.stringContaining("TUNNEL=localtunnel") });
    },
  );

  test("that prints its URL after the timeout, while it is stopped, still fails", async () => {
    const body = `process.once("SIGTERM", () => { ${ngrokLines}\n process.exit(0); });`;
    await using program = await installProgram("ngrok", body);
    expect(await failureOf("ngrok", program)).toMatchObject({
      code: "TUNNEL_FAILED",
      message: expect.stringContaining("did not print a URL in time"),
    });
  });

  test("that leaves a process that keeps its output open can be stopped", async () => {
    const file = join(createFolder(), "pid");
    await using program = await installProgram(
      "ngrok",
      `const other = require("node:child_process").spawn("sleep", ["60"], { detached: true, stdio: "inherit" });
      require("node:fs").writeFileSync(${JSON.stringify(file)}, String(other.pid));`,
    );
    onTestFinished(() => void process.kill(Number(readFileSync(file, "utf8")), "SIGKILL"));
    expect(await failureOf("ngrok", program)).toMatchObject({ code: "TUNNEL_FAILED" });
    expect(await program.isAlive()).toBe(false);
  });

  test("is also found in node_modules/.bin of a parent folder", async () => {
    const project = createFolder();
    await using program = await installProgram("ngrok", ngrokLines, join(project, "node_modules", ".bin"));
    vi.stubEnv("PATH", "/nowhere");
    vi.spyOn(process, "cwd").mockReturnValue(join(project, "packages", "bot"));
    onTestFinished(() => void vi.restoreAllMocks());
    await using tunnel = await openTunnel({ provider: "ngrok", port: 1 });
    expect(tunnel.url).toBe(ngrokUrl);
    expect(await program.isAlive()).toBe(true);
  });

  test("receives only paths, proxies and its own settings as environment", async () => {
    await using program = await installProgram("ngrok", ngrokLines);
    const wanted = ["HTTPS_PROXY", "no_proxy", "NGROK_AUTHTOKEN", "TUNNEL_TOKEN", "XDG_CONFIG_HOME"];
    const unwanted = ["HF_TOKEN", "WEBHOOK_SECRET", "TUNNEL", "NODE_OPTIONS", "AWS_SECRET_ACCESS_KEY", "CONSOLE_TOKEN"];
    for (const name of [...wanted, ...unwanted]) vi.stubEnv(name, name === "NODE_OPTIONS" ? "" : "planted");
    await using _tunnel = await openTunnel({ provider: "ngrok", port: 1 });
    const [start] = await program.starts();
    expect(start?.environment).toEqual(expect.arrayContaining(["PATH", "HOME", ...wanted]));
    expect(start?.environment.filter((name) => unwanted.includes(name))).toEqual([]);
  });

  test.each([
    ["receives SIGTERM", true, `process.on("SIGTERM", () => process.exit(markStopped()));`],
    ["is killed if it ignores SIGTERM", false, `process.on("SIGTERM", () => {});`],
  ])("%s when the tunnel is closed", async (_name, leaves, body) => {
    await using program = await installProgram("cloudflared", `${body} ${cloudflaredLines()}`);
    const tunnel = await openTunnel({ provider: "cloudflared", port: 1 });
    const heard = recordEvents(tunnel);
    expect(await program.isAlive()).toBe(true);
    await Promise.all([tunnel.close(), tunnel.close()]);
    expect(await program.isAlive()).toBe(false);
    expect(program.hasStopped()).toBe(leaves);
    expect(heard).toEqual([]);
  });

  test("stops if its URL does not point to the server in time, which is the reason of the failure", async () => {
    await using local = await startLocalServer((_request, response) => response.end());
    await using program = await installProgram("cloudflared", cloudflaredLines());
    const fetch = vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response("", { status: 502 }));
    onTestFinished(() => void fetch.mockRestore());
    const clock = createManualClock();
    const opening = openReconnectingTunnel(
      { provider: "cloudflared", port: local.port },
      { reachabilityCheck: createReachabilityCheck(), clock },
    );
    const rejected = expect(opening).rejects.toMatchObject({
      code: "TUNNEL_FAILED",
      message: expect.stringContaining("returned status 502 instead of the expected response"),
    });
    await expect.poll(() => clock.pauses).toHaveLength(1);
    await clock.expire(30_000);
    await rejected;
    expect(await program.isAlive()).toBe(false);
  });

  test("stops when the opening is cancelled", async () => {
    await using program = await installProgram("cloudflared", "");
    const controller = new AbortController();
    const reason = new Error("changed my mind");
    const opening = openTunnel({ provider: "cloudflared", port: 1, signal: controller.signal });
    const rejected = expect(opening).rejects.toBe(reason);
    await expect.poll(() => program.isAlive()).toBe(true);
    controller.abort(reason);
    await rejected;
    expect(await program.isAlive()).toBe(false);
  });

  test.each([
    ["", ""],
    ["even if it ignores SIGTERM ", `process.on("SIGTERM", () => {});`],
  ])("stops %swhen the parent process is killed with SIGKILL", async (_name, body) => {
    await using program = await installProgram("cloudflared", `${body} ${cloudflaredLines()}`);
    const script = `
      const { openTunnel } = await import(${JSON.stringify(new URL("../../src/tunnel/tunnel.ts", import.meta.url))});
      await openTunnel({ provider: "cloudflared", port: 1 });
      console.log("open");`;
    const parent = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(parent.stdout, "data");
    expect(await program.isAlive()).toBe(true);
    parent.kill("SIGKILL");
    await expect.poll(() => program.isAlive()).toBe(false);
  });

  test("stops with the tunnel even if the worker was killed", async () => {
    await using program = await installProgram("cloudflared", cloudflaredLines());
    const tunnel = await openTunnel({ provider: "cloudflared", port: 1 });
    newestProcess().kill("SIGKILL");
    await expect.poll(() => runningProcesses()).toEqual([]);
    expect(await program.isAlive()).toBe(true);
    await tunnel.close();
    await expect.poll(() => program.isAlive()).toBe(false);
  });

  test("is restarted with a new URL when it exits unexpectedly", async () => {
    await using local = await startLocalServer((_request, response) => response.end("pong"));
    const laterLine = `console.error("2026-01-12T15:41:18Z INF Connected");`;
    await using program = await installProgram("cloudflared", cloudflaredLines("first-name") + laterLine);
    // The host names do not exist, so the test answers the requests.
    const fetch = vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response("pong"));
    onTestFinished(() => void fetch.mockRestore());
    const clock = createManualClock();
    await using tunnel = await openReconnectingTunnel({ provider: "cloudflared", port: local.port }, { clock });
    const heard = recordEvents(tunnel);
    await program.become(cloudflaredLines("second-name"));
    for (const pid of await program.processes()) process.kill(pid, "SIGKILL");
    await clock.pass(1_000);
    await expect
      .poll(() => heard)
      .toEqual([
        expect.stringMatching(/^error TUNNEL_FAILED: cloudflared exited\. Check the network/),
        "down TUNNEL_FAILED",
        "urlChanged https://second-name.trycloudflare.com",
        "up",
      ]);
    expect(tunnel.url).toBe("https://second-name.trycloudflare.com");
  });

  test.each([
    ["cloudflared", "host", { host: "https://localtunnel.me" }],
    ["cloudflared", "subdomain", { subdomain: "my-bot" }],
    ["ngrok", "host", { host: "https://localtunnel.me" }],
    ["ngrok", "subdomain", { subdomain: "my-bot" }],
  ] as const)("%s rejects the option %s", async (provider, name, options) => {
    await expect(openTunnel({ provider, port: 1, ...options })).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringMatching(new RegExp(`^Option "${name}" is not supported with ${provider}.*set its URL`)),
    });
  });
});
