import { globSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type EndpointOptions, type LaunchOptions, WebhooksServer } from "../../../src/index.ts";
import { manageProcess, readTunnelSetting } from "../../../src/receiver/node/start-server.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { freePort, listenOnPort } from "../../support/free-port.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { requestBytes } from "../../support/raw-socket.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { openSocket } from "./open-listener.ts";

beforeEach(() => {
  const names = ["HOST", "PORT", "TUNNEL", "SPACE_ID", "SPACE_HOST", "WEBHOOK_SECRET", "INBOX_URL", "PUBLIC_URL"];
  for (const name of names) vi.stubEnv(name, undefined);
});

function countListeners(): number[] {
  return ["SIGTERM", "SIGINT", "unhandledRejection"].map((event) => process.listenerCount(event));
}

const anyPort: LaunchOptions = { port: 0 };

function createReceiver() {
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ logger });
  onTestFinished(() => server.close());
  server.webhook("retrain", () => "done");
  const launch = (options: LaunchOptions = {}) => server.launch({ ...anyPort, ...options });
  const readyLines = () => logger.lines.filter(({ msg }) => msg.startsWith("The server is ready"));
  return { server, logger, launch, readyLines };
}

const deliverTo = (baseUrl: string) =>
  fetch(deliveryRequest({ endpoint: "retrain", payload: webhookPayload("repo"), baseUrl }));

/** Occupies a port until the result is disposed. */
async function takePort() {
  const other = createServer();
  const port = await listenOnPort(other);
  return { port, [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void other.close(() => resolve())) };
}

describe("A launched server", () => {
  test("logs the URLs of its endpoints, and that the Hub cannot reach local ones", async () => {
    const { server, readyLines } = createReceiver();
    server.webhook("acme/test", () => "done");
    const { url } = await server.launch(anyPort);
    expect(readyLines()).toEqual([
      {
        level: "info",
        msg: expect.stringMatching(
          /^The server is ready on this machine.*cannot connect.*hub-webhooks dev.*TUNNEL=1.*PUBLIC_URL/,
        ),
        endpoints: [`POST ${url}/webhooks/retrain`, `POST ${url}/webhooks/acme/test`],
      },
    ]);
  });

  test("logs where to register public URLs", async () => {
    const { server, readyLines } = createReceiver();
    await server.launch({ ...anyPort, publicUrl: "https://bot.example.com" });
    expect(readyLines()).toEqual([
      {
        level: "info",
        msg: "The server is ready. Register the URL of an endpoint on the Hub.",
        endpoints: ["POST https://bot.example.com/webhooks/retrain"],
        register: "https://huggingface.co/settings/webhooks",
      },
    ]);
  });

  test("does not log that it is ready without an endpoint", async () => {
    const logger = createMemoryLogger();
    await using server = new WebhooksServer({ logger, secret: "s3cret" });
    const { url } = await server.launch(anyPort);
    expect(logger.lines).toContainEqual({ level: "warn", url, msg: expect.stringContaining("no endpoint") });
    expect(logger.text()).not.toContain("The server is ready");
  });

  test("prepares itself and launches once for several calls, concurrent or later", async () => {
    const { server, logger, readyLines } = createReceiver();
    await Promise.all([server.ready(), server.ready()]);
    const [first, second] = await Promise.all([server.launch(anyPort), server.launch({ ...anyPort, port: 1 })]);
    expect(second).toEqual(first);
    expect(await server.launch(anyPort)).toEqual(first);
    expect(readyLines()).toHaveLength(1);
    expect(logger.lines.filter(({ msg }) => msg.includes("secret is set"))).toHaveLength(1);
  });

  test("answers at the URL that launch() returns, and is closed at the end of an `await using`", async () => {
    let url = "";
    {
      await using server = createReceiver().server;
      const launched = await server.launch(anyPort);
      ({ url } = launched);
      expect([url, launched.publicUrl]).toEqual(Array(2).fill(`http://127.0.0.1:${launched.port}`));
      // Any client can send these headers.
      const forwarded = {
        "x-forwarded-proto": "https",
        "x-forwarded-host": "evil.example",
        "x-forwarded-prefix": "/x",
      };
      expect(await (await fetch(url, { headers: forwarded })).text()).toContain(`${url}/webhooks/`);
      expect(await (await deliverTo(url)).json()).toBe("done");
    }
    await expect(deliverTo(url)).rejects.toThrow();
  });

  test.each<[string, LaunchOptions, number]>([
    ["does not handle signals with handleSignals: false", { handleSignals: false }, 0],
    ["does not handle signals or rejections under a test runner", {}, 0],
    ["handles signals and unhandled rejections until it is closed", { handleSignals: true }, 1],
  ])("%s", async (_what, options, added) => {
    const { server } = createReceiver();
    const before = countListeners();
    await server.launch({ ...anyPort, ...options });
    expect(countListeners()).toEqual(before.map((count) => count + added));
    await server.close();
    expect(countListeners()).toEqual(before);
  });

  const page = requestBytes({ method: "GET", path: "/health", headers: { Host: "localhost" } });

  test("applies maxConnections", async () => {
    const { server } = createReceiver();
    const { url } = await server.launch({ ...anyPort, maxConnections: 1 });
    const first = await openSocket(url);
    expect((await first.send(page).answer()).status).toBe(200);
    const second = await openSocket(url);
    await first.ended;
    expect((await second.send(page).answer()).status).toBe(200);
  });

  test("applies maxRequestsPerSocket", async () => {
    const { server } = createReceiver();
    const { url } = await server.launch({ ...anyPort, maxRequestsPerSocket: 1 });
    const socket = await openSocket(url);
    expect((await socket.send(page).answer()).headers.get("connection")).toBe("close");
    await socket.ended;
  });
});

describe("The host and port of a server", () => {
  test("default to this machine and the port of a Space", async () => {
    const { server } = createReceiver();
    // Another program may use the port. Then the error contains the address.
    const listening = await server.launch().catch((error: unknown) => error);
    const address = expect.objectContaining({ url: "http://127.0.0.1:7860" });
    const inUse = expect.objectContaining({ code: "PORT_IN_USE", message: expect.stringContaining("127.0.0.1") });
    expect(listening).toEqual(listening instanceof Error ? inUse : address);
  });

  test("are those in HOST and PORT", async () => {
    vi.stubEnv("HOST", "localhost");
    vi.stubEnv("PORT", "0");
    const { server } = createReceiver();
    const { port, url } = await server.launch();
    expect(port).not.toBe(7860);
    expect(url).toBe(`http://localhost:${port}`);
    expect((await deliverTo(url)).status).toBe(200);
  });

  test("are those in the options, which override HOST and PORT", async () => {
    vi.stubEnv("HOST", "192.0.2.1");
    vi.stubEnv("PORT", "nonsense");
    const { server } = createReceiver();
    expect((await server.launch({ ...anyPort, host: "127.0.0.1" })).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  test("are shown as localhost for a wildcard address", async () => {
    const { server } = createReceiver();
    const { url } = await server.launch({ ...anyPort, host: "0.0.0.0" });
    expect(url).toMatch(/^http:\/\/localhost:\d+$/);
    expect((await deliverTo(url)).status).toBe(200);
  });

  test("PORT that browsers refuse is an error before the server listens", async () => {
    vi.stubEnv("PORT", "6000");
    await expect(new WebhooksServer({ secret: "s3cret-of-the-hub" }).launch()).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: 'PORT is "6000". Use a port that browsers and fetch do not refuse, such as 8080.',
    });
  });

  test.each(["seven", "-1", "65536", "78.5", "http://localhost:7860", " "])(
    "reject an invalid PORT: %j",
    async (port) => {
      vi.stubEnv("PORT", port);
      const { server, readyLines } = createReceiver();
      await expect(server.launch()).rejects.toMatchObject({
        code: "OPTION_INVALID",
        message: `PORT is ${JSON.stringify(port)}. Use an integer from 0 to 65535.`,
      });
      await server.close();
      expect(readyLines()).toEqual([]);
    },
  );

  test.each<[string, LaunchOptions]>([
    ...[-1, 65_536, 78.5, Number.NaN].map((port): [string, LaunchOptions] => ["port", { port }]),
    ["shutdownGrace", { shutdownGrace: 0 }],
    ["timeouts.headers", { timeouts: { headers: -1 } }],
    ["timeouts.request", { timeouts: { request: 0 } }],
    ["timeouts.keepAlive", { timeouts: { keepAlive: Number.NaN } }],
    ["timeouts.write", { timeouts: { write: -1 } }],
    ["timeouts.headers", { timeouts: { headers: 2_000, request: 1_000 } }],
    ["maxConnections", { maxConnections: 0 }],
    ["maxConnections", { maxConnections: 1.5 }],
    ["maxRequestsPerSocket", { maxRequestsPerSocket: -1 }],
    ["maxRequestsPerSocket", { maxRequestsPerSocket: Number.NaN }],
  ])("reject an invalid port, duration, or limit: %s %o", async (option, options) => {
    const { server } = createReceiver();
    await expect(server.launch({ ...anyPort, ...options })).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining(`"${option}"`),
    });
  });
});

describe("A server that cannot listen", () => {
  test("can be closed without a log line", async () => {
    await using taken = await takePort();
    const { server } = createReceiver();
    await Promise.all([
      expect(server.launch({ port: taken.port, host: "127.0.0.1" })).rejects.toMatchObject({
        code: "PORT_IN_USE",
        cause: expect.objectContaining({ code: "EADDRINUSE" }),
      }),
      expect(server.close()).resolves.toBeUndefined(),
    ]);
  });
});

describe("A server in a Space", () => {
  test("listens on every address, and returns the URL of the Space", async () => {
    vi.stubEnv("SPACE_ID", "acme/rain-bot");
    vi.stubEnv("SPACE_HOST", "acme-rain-bot.hf.space");
    const { server, readyLines } = createReceiver();
    const { port, url, publicUrl } = await server.launch(anyPort);
    expect([url, publicUrl]).toEqual([`http://localhost:${port}`, "https://acme-rain-bot.hf.space"]);
    expect(readyLines()).toMatchObject([{ endpoints: ["POST https://acme-rain-bot.hf.space/webhooks/retrain"] }]);
    const page = await (await fetch(url)).text();
    expect(page).toContain("https://acme-rain-bot.hf.space/webhooks/retrain");
  });

  test("of a local Hub has an http URL, also in the link to its console", async () => {
    vi.stubEnv("SPACE_ID", "me/bot");
    vi.stubEnv("SPACE_HOST", "127.0.0.1:4321");
    const logger = createMemoryLogger();
    await using server = new WebhooksServer({ secret: "s3cret", logger });
    expect(await server.launch(anyPort)).toMatchObject({ publicUrl: "http://127.0.0.1:4321" });
    const link = () => logger.lines.find(({ console }) => console !== undefined)?.console;
    await expect.poll(link).toMatch(/^http:\/\/127\.0\.0\.1:4321\/_console\//);
  });

  test.each<[what: string, inbox: string, background: boolean, warns: boolean]>([
    ["nothing in the background", "sqlite:./never-made.db", false, false],
    ["an inbox on its disk", "sqlite:inbox.db", true, true],
    ["an inbox in memory", "sqlite::memory:", true, false],
    ["an inbox on a mounted bucket", "sqlite:bucket.db?unsafe-file-system=allow", true, false],
  ])("logs what to expect with %s", async (_what, inbox, background, warns) => {
    vi.stubEnv("SPACE_ID", "acme/rain-bot");
    vi.stubEnv("SPACE_HOST", "acme-rain-bot.hf.space");
    const folder = createFolder();
    const logger = createMemoryLogger();
    await using server = new WebhooksServer({
      secret: "s3cret",
      logger,
      inbox: inbox.replace(/:(?=[a-z.]+\.db)|:(?=\.\/)/, `:${folder}/`),
    });
    server.webhook("retrain", { background }, () => {});
    await server.launch(anyPort);
    const logged = logger.lines.map(({ level, msg }) => `${level} ${msg}`);
    expect(logged).toContainEqual(expect.stringMatching(/^info .*public or protected Space.*sleeps after 48 hours/));
    const warning = expect.stringMatching(/^warn The inbox is on the disk of this Space.*INBOX_URL/);
    if (warns) expect(logged).toContainEqual(warning);
    else expect(logged).not.toContainEqual(warning);
  });

  test.each<[what: string, level: string | undefined, options: EndpointOptions, token: string, isSpace: boolean]>([
    ["paths, without a token", "warn", { paths: "data/**" }, "", false],
    ["ignoreSelf, in a Space without a token", "warn", { ignoreSelf: true }, "", true],
    ["paths, with a token", undefined, { paths: "data/**" }, "hf_local", true],
    ["neither, in a Space without a token", "info", {}, "", true],
    ["neither, without a token", undefined, {}, "", false],
  ])("logs that the Hub cannot be asked: %s", async (_what, level, options, token, isSpace) => {
    vi.stubEnv("HF_TOKEN", token);
    vi.stubEnv("HF_TOKEN_PATH", join(createFolder(), "none"));
    vi.stubEnv("SPACE_ID", isSpace ? "acme/rain-bot" : undefined);
    vi.stubEnv("SPACE_HOST", isSpace ? "acme-rain-bot.hf.space" : undefined);
    const logger = createMemoryLogger();
    await using server = new WebhooksServer({ secret: "s3cret", logger });
    server.webhook("retrain", options, () => {});
    await server.launch(anyPort);
    const line = () => logger.lines.find(({ msg }) => msg.includes("access token for the Hub"));
    if (level !== undefined) {
      await expect.poll(line).toMatchObject({ level, msg: expect.stringContaining("HF_TOKEN") });
      if (level === "warn") expect(line()).toMatchObject({ endpoints: ["retrain"] });
    } else {
      // Logged later than any line about the token.
      await expect.poll(() => logger.text()).toContain("Open the console");
      expect(line()).toBeUndefined();
    }
  });

  test("does not log advice for Spaces outside of a Space", async () => {
    const logger = createMemoryLogger();
    await using server = new WebhooksServer({ secret: "s3cret", logger });
    await server.launch(anyPort);
    expect(logger.text()).not.toContain("Space");
  });

  test.each([
    ["SPACE_ID", { SPACE_ID: "acme/rain-bot" }],
    ["SPACE_HOST", { SPACE_HOST: "acme-rain-bot.hf.space" }],
  ])("is not detected if only %s is set", async (_name, environment) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    const { server } = createReceiver();
    const { url, publicUrl } = await server.launch(anyPort);
    expect(publicUrl).toBe(url);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:/);
  });
});

test("A launch that failed because of a setting succeeds after the setting is fixed", async () => {
  vi.stubEnv("LOG_LEVEL", "loud");
  await using server = new WebhooksServer({ secret: "s3cret" });
  await expect(server.launch(anyPort)).rejects.toMatchObject({ code: "OPTION_INVALID" });
  vi.stubEnv("LOG_LEVEL", "silent");
  const { url } = await server.launch(anyPort);
  expect((await fetch(`${url}/health`)).status).toBe(200);
});

test("A logger that causes unhandled rejections is not called for each of them", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const logger = createMemoryLogger();
  const { release } = manageProcess(async () => true, logger);
  onTestFinished(release);
  const onRejection = process.listeners("unhandledRejection").at(-1);
  const reject = () => onRejection?.(new Error("no log host"), Promise.resolve());
  for (let count = 0; count < 1_000; count += 1) reject();
  expect(logger.lines).toHaveLength(100);
  vi.advanceTimersByTime(1_000);
  expect(logger.lines.at(-1)).toMatchObject({ level: "error", count: 900 });
  reject();
  expect(logger.lines).toHaveLength(102);
});

describe("The public URL of a launch", () => {
  test("is in the log and on the landing page, without a trailing slash", async () => {
    const { server, logger, launch } = createReceiver();
    const { url, publicUrl } = await launch({ publicUrl: "https://bot.example.com/behind/" });
    expect(server.endpointNames).toEqual(["retrain"]);
    expect(publicUrl).toBe("https://bot.example.com/behind");
    expect(logger.text()).toContain("POST https://bot.example.com/behind/webhooks/retrain");
    expect(await (await fetch(url)).text()).toContain("https://bot.example.com/behind/webhooks/retrain");
  });

  test("is that of PUBLIC_URL by default, which overrides that of the Space", async () => {
    vi.stubEnv("PUBLIC_URL", "https://bot.example.com");
    vi.stubEnv("SPACE_ID", "acme/rain-bot");
    vi.stubEnv("SPACE_HOST", "acme-rain-bot.hf.space");
    const first = createReceiver();
    expect((await first.launch({})).publicUrl).toBe("https://bot.example.com");
    const second = createReceiver();
    expect((await second.launch({ publicUrl: "https://other.example.com" })).publicUrl).toBe(
      "https://other.example.com",
    );
  });

  test("may change if it is a function", async () => {
    const { launch } = createReceiver();
    let address = "https://quiet-owl-12.loca.lt";
    const { url } = await launch({ publicUrl: () => address });
    expect(await (await fetch(url)).text()).toContain("https://quiet-owl-12.loca.lt/webhooks/retrain");
    address = "https://loud-owl-13.loca.lt";
    expect(await (await fetch(url)).text()).toContain("https://loud-owl-13.loca.lt/webhooks/retrain");
  });

  test("that a function cannot return yet fails the launch, after which the port is free", async () => {
    const { launch } = createReceiver();
    const port = await freePort();
    const error = new Error("The tunnel is not open.");
    const publicUrl = vi.fn<() => string>().mockImplementationOnce(() => {
      throw error;
    });
    await expect(launch({ port, publicUrl })).rejects.toBe(error);
    publicUrl.mockReturnValue("https://bot.example.com");
    expect((await launch({ port, publicUrl })).publicUrl).toBe("https://bot.example.com");
  });

  test.for([
    "bot.example.com",
    "ftp://bot.example.com",
    "https://me:Planted-5ecret@bot.example.com",
    "https://bot.example.com/?token=Planted-5ecret",
    "https://bot.example.com/#top",
  ])("is refused as %s, which is not repeated", async (publicUrl) => {
    const { launch } = createReceiver();
    const refused = await launch({ publicUrl }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "OPTION_INVALID" });
    expect(String(refused)).not.toContain("Planted-5ecret");
  });
});

describe("A launch with announce: false", () => {
  test("does not log the URLs and whether a secret is set", async () => {
    const quiet = createReceiver();
    await quiet.launch({ announce: false });
    expect(quiet.logger.lines.filter(({ level }) => level === "info")).toEqual([]);
    const loud = createReceiver();
    await loud.launch({});
    expect(loud.logger.text()).toContain("The server is ready");
  });

  test("logs warnings", async () => {
    const logger = createMemoryLogger();
    await using server = new WebhooksServer({ logger, secret: "two lines\n" });
    server.webhook("retrain", () => "done");
    await server.launch({ port: 0, announce: false });
    expect(logger.lines.map(({ level }) => level)).toEqual(["warn"]);
  });
});

test.each([
  ["", false],
  ["0", false],
  ["false", false],
  ["1", true],
  ["true", true],
  ["localtunnel", { provider: "localtunnel" }],
  ["cloudflared", { provider: "cloudflared" }],
  ["ngrok", { provider: "ngrok" }],
])("TUNNEL=%s is parsed as %j", (value, setting) => {
  vi.stubEnv("TUNNEL", value);

  expect(readTunnelSetting()).toEqual(setting);
});

test("There is no tunnel without TUNNEL", () => {
  vi.stubEnv("TUNNEL", undefined);

  expect(readTunnelSetting()).toBe(false);
});

test.each(["yes", "cloudflare", "https://me:planted@hooks.example.com"])("TUNNEL=%s is rejected", (value) => {
  vi.stubEnv("TUNNEL", value);

  expect(() => readTunnelSetting()).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  expect(() => readTunnelSetting()).not.toThrow(/planted/);
});

const folder = fileURLToPath(new URL("../../../src/receiver/", import.meta.url));

/** Returns the files that these load on first use. */
function importedLater(paths: readonly string[]): Set<string> {
  const imports = paths.flatMap((path) => [
    ...readFileSync(`${folder}${path}`, "utf8").matchAll(/\bimport\("([^"]+)"\)/g),
  ]);
  return new Set(imports.map(([, path = ""]) => basename(path)));
}

// Node 22 caches a failed import, such as one without free file descriptors, so the page would fail permanently.
test("A launched server preloads every page that is loaded on first use", () => {
  const pages = importedLater(globSync(["*.ts", "{console,landing,lifecycle,routes}/*.ts"], { cwd: folder }));
  const ahead = importedLater(["node/start-server.ts"]);
  const shown = [...pages].filter((name) => /page|console/.test(name));
  expect(shown.length).toBeGreaterThan(2);
  expect(shown.filter((name) => !ahead.has(name))).toEqual([]);
});
