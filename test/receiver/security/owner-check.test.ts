import { Hono } from "hono";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { PasswordGuesses } from "../../../src/core/guesses.ts";
import { WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { createOwnerCheck } from "../../../src/receiver/owner.ts";
import { ConsoleClient } from "../../support/console-client.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { RawSocket, requestBytes } from "../../support/raw-socket.ts";
import { waitFor } from "../../support/wait-for.ts";
import { secret, startedAt } from "../console/open-receiver-console.ts";

const token = "Planted-t0ken-5cc1";

/** Creates an app with one page for the owner. */
function ownersApp({ token, guesses }: { token?: string | undefined; guesses?: PasswordGuesses } = {}) {
  const owner = createOwnerCheck({
    token,
    now: Date.now,
    refusalLog: createMemoryLogger(),
    ...(guesses && { guesses }),
  });
  const app = new Hono();
  app.get("/", async (context) => (await owner.refuse(context)) ?? context.text("for the owner"));
  return app;
}

function basic(password: string, user = "me"): Record<string, string> {
  const bytes = new TextEncoder().encode(`${user}:${password}`);
  return { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
}

/** Returns the data that Node's server attaches to a request from this address. */
function from(remoteAddress: string, httpVersion = "1.1") {
  return { incoming: { socket: { remoteAddress }, httpVersion } };
}

describe("With a token, the owner", () => {
  test.each([
    { user: "me", password: token },
    { user: "", password: token },
    { user: "Zoë", password: "gehört-mir ☃ 100%" },
    { user: "me", password: "a token with:a colon" },
    { user: "me", password: "🤗".repeat(8) },
  ])("is any client that sends $password as the password of $user", async ({ user, password }) => {
    const app = ownersApp({ token: password });
    const response = await app.request("/", { headers: basic(password, user) }, from("203.0.113.7"));
    expect([response.status, await response.text()]).toEqual([200, "for the owner"]);
  });

  test("is prompted for the password by the browser, also on this machine", async () => {
    const app = ownersApp({ token });
    const response = await app.request("/", { headers: { host: "localhost" } }, from("127.0.0.1"));
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe('Basic realm="hub-webhooks", charset="UTF-8"');
    expect(await response.json()).toEqual({
      error: expect.stringContaining("CONSOLE_TOKEN"),
      code: "CONSOLE_TOKEN_MISSING",
    });
  });

  test.each<[string, Record<string, string>, string?]>([
    ["another password", basic("wrong")],
    ["an empty one", basic("")],
    ["its beginning", basic(token.slice(0, -1))],
    ["more than it", basic(`${token}x`)],
    ["it twice", basic(token + token)],
    ["it as the user", basic("", token)],
    ["what is no base64", { authorization: "Basic A" }],
    ["what is half a character", { authorization: "Basic bWU6/w==" }],
    ["another scheme", { authorization: `Bearer ${token}` }, "CONSOLE_TOKEN_MISSING"],
    ["nothing", { authorization: "" }, "CONSOLE_TOKEN_MISSING"],
  ])("is not who gives %s", async (_what, headers, code = "CONSOLE_TOKEN_INVALID") => {
    const response = await ownersApp({ token }).request("/", { headers });
    const text = await response.text();
    expect([response.status, JSON.parse(text).code]).toEqual([401, code]);
    expect(response.headers.get("www-authenticate")).toContain("Basic");
    expect(text).not.toContain(token);
  });

  test("is checked against CONSOLE_TOKEN of the process or of a worker", async () => {
    vi.stubEnv("CONSOLE_TOKEN", "t0ken of the process");
    const app = ownersApp();
    const statusOf = async (password: string, bindings?: object) =>
      (await app.request("/", { headers: basic(password) }, bindings)).status;
    const bindings = { CONSOLE_TOKEN: "t0ken of the worker" };
    expect(await statusOf("t0ken of the process")).toBe(200);
    expect(await statusOf("t0ken of the worker", bindings)).toBe(200);
    expect(await statusOf("t0ken of the process", bindings)).toBe(401);
  });

  test("waits like all clients after 20 wrong tokens, until the minute is over", async () => {
    let now = 1_000_000;
    const turns: (() => void)[] = [];
    const wait = () => new Promise<void>((resolve) => void turns.push(resolve));
    const app = ownersApp({ token, guesses: new PasswordGuesses(() => now, { wait }) });
    const ask = async (password: string) => app.request("/", { headers: basic(password) });
    for (let count = 0; count < 20; count += 1) expect((await ask("guess")).status).toBe(401);
    const answers: string[] = [];
    const waiting = ["guess", token].map(async (password) => {
      const response = await ask(password);
      answers.push(`${response.status} after ${response.headers.get("retry-after")} s`);
    });
    // A request without credentials is not a guess.
    expect((await app.request("/")).status).toBe(401);
    expect(answers).toEqual([]);
    for (const expected of [["429 after 60 s"], ["429 after 60 s", "200 after null s"]]) {
      await waitFor(() => expect(turns.splice(0).map((takeTurn) => takeTurn())).toHaveLength(1));
      await waitFor(() => expect(answers).toEqual(expected));
    }
    await Promise.all(waiting);
    now += 60_000;
    expect((await ask("guess")).status).toBe(401);
  });

  test.each(["t0ken-with-15-c", "  t0ken-with-15-c  ", "1234"])(
    "has no owner if the token is short: %j",
    async (short) => {
      expect(() => ownersApp({ token: short })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
      const response = await ownersApp().request("/", { headers: basic(short) }, { CONSOLE_TOKEN: short });
      expect([response.status, await response.json()]).toEqual([
        503,
        { code: "OPTION_INVALID", error: expect.not.stringContaining(short) },
      ]);
      expect(() => ownersApp({ token: "t0ken-with-16-ch" })).not.toThrow();
    },
  );

  test.each([7, true, {}, ["t0ken-in-a-list-of-tokens"]])("has no owner if the token is %j", (given) => {
    const create = () => Reflect.construct(WebhooksServer, [{ consoleToken: given }]);
    expect(create).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});

describe("Without a token, the owner", () => {
  test.each([
    ...["localhost", "localhost:7860", "LOCALHOST:1", "127.0.0.1:7860", "127.8.9.1", "[::1]:7860"].map((host) => {
      return { host, address: "::1" };
    }),
    ...["127.0.0.1", "127.4.5.6", "::ffff:127.0.0.1"].map((address) => ({ host: "localhost", address })),
  ])("is a client that requests $host from $address", async ({ host, address }) => {
    for (const app of [ownersApp(), ownersApp({ token: "" })]) {
      expect((await app.request("/", { headers: { host } }, from(address))).status).toBe(200);
    }
  });

  test.each([
    ["has another address", "localhost", {}, from("192.168.1.7")],
    ["has another address that looks similar", "localhost", {}, from("::ffff:128.0.0.1")],
    ["has no socket", "localhost", {}, {}],
    ["has a socket without an address", "localhost", {}, { incoming: { socket: {} } }],
    ["uses another host name", "evil.example", {}, from("127.0.0.1")],
    ["uses a host name with the same start", "localhost.evil.example", {}, from("127.0.0.1")],
    ["uses an address with the same start", "127.0.0.1.evil.example:7860", {}, from("127.0.0.1")],
    ["sends no host name", "", {}, from("127.0.0.1")],
    ["comes through a proxy", "localhost", { forwarded: "for=203.0.113.7" }, from("127.0.0.1")],
    ["comes through a proxy with X-Forwarded-For", "localhost", { "x-forwarded-for": "127.0.0.1" }, from("127.0.0.1")],
    ["comes through a proxy with X-Real-IP", "localhost", { "x-real-ip": "127.0.0.1" }, from("127.0.0.1")],
    ["comes through a tunnel", "localhost", { "X-Forwarded-Proto": "https" }, from("127.0.0.1")],
    ["comes through a cache", "localhost", { via: "1.1 cache" }, from("127.0.0.1")],
    ["comes through nginx with its default settings", "127.0.0.1:7860", {}, from("127.0.0.1", "1.0")],
    ["sends any password", "evil.example", basic("anything"), from("127.0.0.1")],
  ])("is not a client that %s", async (_what, host, headers, bindings) => {
    const response = await ownersApp().request("/", { headers: { ...headers, ...(host && { host }) } }, bindings);
    expect(response.status).toBe(403);
    expect(response.headers.get("www-authenticate")).toBeNull();
    expect(await response.json()).toMatchObject({ error: expect.stringContaining("Set CONSOLE_TOKEN") });
  });

  test("cannot be recognized in a Space, where every request comes through a proxy", async () => {
    vi.stubEnv("SPACE_ID", "acme/bot");
    vi.stubEnv("SPACE_HOST", "acme-bot.hf.space");
    const response = await ownersApp().request("/", { headers: { host: "localhost" } }, from("127.0.0.1"));
    expect(response.status).toBe(403);
  });

  test.each([
    ["if PUBLIC_URL makes the server publicly reachable", "https://bot.example.com", undefined],
    ["if the launch reports a public URL", undefined, () => true],
  ])("is no client %s", async (_when, publicUrl, isPublic) => {
    vi.stubEnv("PUBLIC_URL", publicUrl);
    const owner = createOwnerCheck({
      token: undefined,
      now: Date.now,
      refusalLog: createMemoryLogger(),
      ...(isPublic && { isPublic }),
    });
    const app = new Hono().get("/", async (context) => (await owner.refuse(context)) ?? context.text("for the owner"));
    const response = await app.request("/", { headers: { host: "localhost" } }, from("127.0.0.1"));
    expect(response.status).toBe(403);
  });

  test("is recognized over a real socket", async () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    const owner = createOwnerCheck({ token: undefined, now: Date.now, refusalLog: createMemoryLogger() });
    server.app.get("/mine", async (context) => (await owner.refuse(context)) ?? context.text("for the owner"));
    const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
    onTestFinished(() => server.close());
    const statusFor = async (headers: Record<string, string>) => {
      const socket = await RawSocket.open(url);
      const answer = await socket
        .send(requestBytes({ method: "GET", path: "/mine", headers: { Connection: "close", ...headers } }))
        .answer();
      socket.close();
      return answer.status;
    };
    const host = new URL(url).host;
    expect(await statusFor({ Host: host })).toBe(200);
    expect(await statusFor({ Host: "rebound.example" })).toBe(403);
    expect(await statusFor({ Host: host, "X-Forwarded-For": "203.0.113.7" })).toBe(403);
  });
});

describe("A requested link to the console", () => {
  /** Opens a server that is not launched. */
  function openMounted(options: WebhooksServerOptions = {}) {
    const clock = { now: startedAt };
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ secret, logger, now: () => clock.now, ...options });
    server.webhook("inline", () => {});
    onTestFinished(() => server.close());
    const connect = (base = "http://localhost:3000") =>
      new ConsoleClient(async (path, init) => server.fetch(new Request(`${base}/_console/${path}`, init)));
    const links = () => logger.lines.map((line) => line.console).filter((link) => link !== undefined);
    return { server, clock, connect, links };
  }

  test("A server that was not launched logs a link that signs in when its sign-in page is opened", async () => {
    const { connect, links } = openMounted();
    const client = connect();
    expect(links()).toEqual([]);
    expect(await client.read("session")).toMatchObject({ signedIn: false, methods: { token: false, linkFrom: "log" } });
    const [, code = ""] = /^\/_console\/#\/sign-in\/(.+)$/.exec(`${links()[0]}`) ?? [];
    expect((await client.signIn({ code })).status).toBe(200);
    await client.read("session");
    expect(links()).toHaveLength(1);
  });

  test("It logs at most one link in ten minutes, also after its clock was set back", async () => {
    const { connect, links, clock } = openMounted();
    const open = async () => {
      await connect().read("session");
      return links().length;
    };
    expect([await open(), await open()]).toEqual([1, 1]);
    clock.now += 599_999;
    expect(await open()).toBe(1);
    clock.now += 1;
    expect(await open()).toBe(2);
    clock.now -= 3_600_000;
    expect([await open(), await open()]).toEqual([3, 3]);
  });

  test("A link never contains a host that the client chose", async () => {
    for (const base of ["https://attacker.example", "http://localhost:9999"]) {
      const { connect, links } = openMounted();
      await connect(base).read("session");
      expect(links()).toEqual([expect.stringMatching(/^\/_console\/#\/sign-in\//)]);
    }
  });

  test("No link is logged with a console token, or if a launch was not to announce anything", async () => {
    const withToken = openMounted({ consoleToken: "t0ken-of-the-owner" });
    await withToken.connect().read("session");
    expect(withToken.links()).toEqual([]);
    const silent = openMounted();
    const { url } = await silent.server.launch({ port: 0, host: "127.0.0.1", announce: false, handleSignals: false });
    await (await fetch(`${url}/_console/api/session`)).json();
    expect(silent.links()).toEqual([]);
  });
});
