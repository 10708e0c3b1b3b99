import { describe, expect, test } from "vitest";
import { RevokedSessions, SessionTokens, SignInLinks } from "../../../src/console/server/access.ts";
import type { ConsoleResource } from "../../../src/console/server/api.ts";
import { waitFor } from "../../support/wait-for.ts";
import { codeOf, consoleToken, openTestConsole, startedAt } from "./open-test-console.ts";

const week = 7 * 24 * 3_600_000;
const changes: ConsoleResource = (app) => {
  app.get("/data", (context) => context.json({ data: 1 }));
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    app.on(method, "/data", (context) => context.json({ changed: true }));
  }
};

describe("Signing in", () => {
  test("with the console token opens a session", async () => {
    const { connect } = openTestConsole({ resources: [changes] });
    const client = connect();
    expect(await client.read("session")).toEqual({
      ...{ signedIn: false, place: "receiver" },
      methods: { token: true, linkFrom: "log" },
    });
    expect(await codeOf(await client.get("data"))).toEqual([401, "SIGN_IN_REQUIRED"]);
    const response = await client.signIn({ token: consoleToken });
    const session = {
      ...{ signedIn: true, place: "receiver", features: ["deliveries"], version: "1.2.3" },
      csrfToken: expect.stringMatching(/^[\da-f]{64}$/),
    };
    expect([response.status, await response.json()]).toEqual([200, session]);
    expect(await client.read("session")).toEqual({ ...session, csrfToken: client.csrfToken });
    expect(await client.read("data")).toEqual({ data: 1 });
  });

  test.each([
    ["over HTTP", "http://localhost", {}, false],
    ["over HTTPS", "https://bot.example", {}, true],
    ["behind a proxy that ends TLS", "http://localhost", { "x-forwarded-proto": "https" }, true],
    ["behind two proxies", "http://localhost", { "x-forwarded-proto": "https, http" }, true],
    ["behind a proxy over HTTP", "http://localhost", { "x-forwarded-proto": "http" }, false],
  ])("%s sets a cookie that scripts and other sites cannot use", async (_where, url, headers, isSecure) => {
    const { connect, send } = openTestConsole({ url });
    const response = await connect().signIn({ token: consoleToken }, headers);
    const [pair = "", ...attributes] = response.headers.get("set-cookie")?.split("; ") ?? [];
    expect(pair).toMatch(/^(?:__Host-)?hub_webhooks_[\da-f]{12}=[\da-z]+\.[\da-f]{32}\.[\da-f]{64}$/);
    expect(pair.startsWith("__Host-")).toBe(isSecure);
    expect(attributes.sort()).toEqual(
      ["HttpOnly", "Max-Age=604800", "Path=/", "SameSite=Lax", ...(isSecure ? ["Secure"] : [])].sort(),
    );
    const isSignedIn = async (cookie: string) =>
      (await (await send("api/session", { headers: { ...headers, cookie } })).json()).signedIn;
    expect(await isSignedIn(pair)).toBe(true);
    // Another host of the domain can set a cookie without the prefix.
    expect(await isSignedIn(isSecure ? pair.replace("__Host-", "") : `__Host-${pair}`)).toBe(false);
  });

  test("lasts a week, and survives a restart with the same token", async () => {
    const { signIn } = openTestConsole();
    const { cookie } = await signIn();
    const isSignedIn = async (options: Parameters<typeof openTestConsole>[0]) =>
      (await (await openTestConsole(options).send("api/session", { headers: { cookie } })).json()).signedIn;
    expect(await isSignedIn({ clock: { now: startedAt + week - 1 } })).toBe(true);
    expect(await isSignedIn({ clock: { now: startedAt + week } })).toBe(false);
    expect(await isSignedIn({ token: "another" })).toBe(false);
    expect(await isSignedIn({ token: undefined })).toBe(false);
  });

  test("out ends the session, also for a copy of the cookie, but no other session", async () => {
    const { signIn, send } = openTestConsole({ resources: [changes] });
    const [client, other] = [await signIn(), await signIn()];
    const copy = { cookie: client.cookie };
    const response = await client.post("session", {}, { method: "DELETE" });
    expect(await response.json()).toMatchObject({ signedIn: false });
    expect(response.headers.get("set-cookie")).toBe(
      `${client.cookie.split("=")[0]}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0`,
    );
    expect(await codeOf(await send("api/data", { headers: copy }))).toEqual([401, "SIGN_IN_REQUIRED"]);
    expect(await (await send("api/session", { headers: copy })).json()).toMatchObject({ signedIn: false });
    expect(await other.read("data")).toEqual({ data: 1 });
  });

  test.each([
    ["a wrong token", { token: "guess" }],
    ["an empty token", { token: "" }],
    ["the start of the token", { token: consoleToken.slice(0, -1) }],
    ["a longer token", { token: `${consoleToken}x` }],
    ["a lone surrogate", { token: "\ud800" }],
    ["an unknown code", { code: "0".repeat(32) }],
    ["the token as a code", { code: consoleToken }],
  ])("with %s is refused", async (_what, request) => {
    const { connect, refusals } = openTestConsole();
    const response = await connect().signIn(request);
    expect(response.headers.get("set-cookie")).toBeNull();
    expect(await codeOf(response)).toEqual([401, "SIGN_IN_INVALID"]);
    expect(refusals).toEqual([{ code: "SIGN_IN_INVALID", status: 401 }]);
  });

  test.each([
    ["a token that is not text", { token: 7 }],
    ["a token and a code", { token: consoleToken, code: "x" }],
    ["nothing", {}],
    ["a list", []],
    ["a long token", { token: "x".repeat(1_001) }],
  ])("with %s is a bad request", async (_what, body) => {
    const { connect } = openTestConsole();
    const response = await connect().post("session", body);
    expect(await codeOf(response)).toEqual([400, "ARGUMENT_INVALID"]);
  });

  test("without a console token is only possible with a link", async () => {
    const { access, connect } = openTestConsole({ token: undefined });
    const client = connect();
    expect(await client.read("session")).toMatchObject({ methods: { token: false } });
    for (const token of ["", "undefined", "null"]) {
      expect(await codeOf(await client.signIn({ token }))).toEqual([401, "SIGN_IN_INVALID"]);
    }
    const code = access.links.create("http://localhost/_console/").slice(-32);
    expect((await client.signIn({ code })).status).toBe(200);
    expect(await client.read("session")).toMatchObject({ signedIn: true });
  });
});

test("A client that is not signed in cannot send a large body", async () => {
  const { send } = openTestConsole();
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ token: "x".repeat(20_000) });
  expect(await codeOf(await send("api/session", { method: "POST", headers, body }))).toEqual([413, "BODY_TOO_LARGE"]);
});

describe("A one-time link", () => {
  const createLinks = (clock = { now: 5_000 }) => {
    const links = new SignInLinks(() => clock.now);
    return { clock, links, create: () => links.create("https://bot.example/hub/_console/").slice(-32) };
  };

  test("signs in once, and reports its use", async () => {
    const { console: opened, connect, onLinkUsed } = openTestConsole();
    const link = opened.createSignInLink("https://bot.example/hub");
    expect(link).toMatch(/^https:\/\/bot\.example\/hub\/_console\/#\/sign-in\/[\da-f]{32}$/);
    const code = link.slice(-32);
    expect((await connect().signIn({ code })).status).toBe(200);
    expect(onLinkUsed).toHaveBeenCalledTimes(1);
    expect(await codeOf(await connect().signIn({ code }))).toEqual([401, "SIGN_IN_INVALID"]);
    expect(onLinkUsed).toHaveBeenCalledTimes(1);
  });

  test("is valid for one hour", () => {
    const { links, clock, create } = createLinks();
    const [first, second] = [create(), create()];
    clock.now += 3_600_000 - 1;
    expect(links.use(first)).toBe(true);
    clock.now += 1;
    expect(links.use(second)).toBe(false);
  });

  test("has its own code, and replaces the oldest of 20", () => {
    const { links, create } = createLinks();
    const codes = Array.from({ length: 21 }, create);
    expect(new Set(codes).size).toBe(21);
    for (const wrong of ["", "undefined", "__proto__", `${codes[1]} `, `${codes[2]}0`]) {
      expect([wrong, links.use(wrong)]).toEqual([wrong, false]);
    }
    expect(codes.map((code) => links.use(code))).toEqual([false, ...Array(20).fill(true)]);
  });
});

describe("The value of a session's cookie", () => {
  const createTokens = (secret: string | undefined = "s3cret") => new SessionTokens({ secret, now: () => 1_000_000 });

  test("is valid in each process with the same secret, and without a secret only where it was created", async () => {
    for (const [secret, isValidElsewhere] of [
      ["s3cret", true],
      [undefined, false],
    ] as const) {
      const tokens = new SessionTokens({ secret, now: () => 1_000_000 });
      const value = await tokens.create();
      const session = await tokens.verify(value);
      expect(session?.csrfToken).toMatch(/^[\da-f]{64}$/);
      const other = await new SessionTokens({ secret, now: () => 1_000_000 }).verify(value);
      expect(other?.csrfToken).toBe(isValidElsewhere ? session?.csrfToken : undefined);
    }
  });

  test("is its own, as its CSRF token, and they do not contain the secret", async () => {
    const tokens = createTokens();
    const values = await Promise.all(Array.from({ length: 20 }, () => tokens.create()));
    const sessions = await Promise.all(values.map((value) => tokens.verify(value)));
    expect(new Set(values).size).toBe(20);
    expect(new Set(sessions.map((session) => session?.csrfToken)).size).toBe(20);
    expect(JSON.stringify([values, sessions])).not.toContain("s3cret");
  });

  test("is not valid if one character changes", async () => {
    const tokens = createTokens();
    const value = await tokens.create();
    for (let index = 0; index < value.length; index += 1) {
      const other = value[index] === "1" ? "2" : "1";
      const forged = `${value.slice(0, index)}${other}${value.slice(index + 1)}`;
      expect([forged, await tokens.verify(forged)]).toEqual([forged, undefined]);
    }
  });

  test.each([
    ["nothing", () => ""],
    ["no signature", (value: string) => value.split(".").slice(0, 2).join(".")],
    ["an empty signature", (value: string) => `${value.split(".").slice(0, 2).join(".")}.`],
    ["a later expiry", (value: string) => `zzzzzzzzzz.${value.split(".").slice(1).join(".")}`],
    ["an additional part", (value: string) => `${value}.x`],
    ["an upper-case signature", (value: string) => value.replace(/[^.]+$/, (signature) => signature.toUpperCase())],
    ["a longer signature", (value: string) => `${value}00`],
    ["another signature", (value: string) => value.replace(/[^.]+$/, "0".repeat(64))],
    ["the CSRF token as its signature", (value: string, csrf: string) => value.replace(/[^.]+$/, csrf)],
    ["a long value", () => "x".repeat(100_000)],
  ])("is not valid with %s", async (_what, forge) => {
    const tokens = createTokens();
    const value = await tokens.create();
    const session = await tokens.verify(value);
    expect(await tokens.verify(forge(value, session?.csrfToken ?? ""))).toBeUndefined();
  });

  test("has a name that depends on the secret only, so that two servers on one host do not sign each other out", async () => {
    const [name, same, other] = await Promise.all(
      ["s3cret", "s3cret", "other"].map((secret) => createTokens(secret).cookieName()),
    );
    expect(name).toMatch(/^hub_webhooks_[\da-f]{12}$/);
    expect([same === name, other === name]).toEqual([true, false]);
  });
});

describe("Sessions that were signed out", () => {
  test("are removed when they have expired, and the oldest ones if there are too many", () => {
    const clock = { now: 0 };
    const revoked = new RevokedSessions({ now: () => clock.now, maxSessions: 2 });
    const known = () => ["a", "b", "c", "d"].filter((id) => revoked.has(id));
    revoked.add("a", 10);
    revoked.add("b", 100);
    clock.now = 10;
    revoked.add("c", 110);
    expect(known()).toEqual(["b", "c"]);
    revoked.add("d", 110);
    expect(known()).toEqual(["c", "d"]);
  });

  test("call their listeners, also those that are added later", () => {
    const revoked = new RevokedSessions({ now: () => 0 });
    const called: string[] = [];
    revoked.watch("a", () => called.push("early"));
    revoked.watch("a", () => called.push("removed"))();
    revoked.watch("b", () => called.push("other"));
    revoked.add("a", 10);
    revoked.watch("a", () => called.push("late"));
    expect(called).toEqual(["early", "late"]);
  });
});

describe("Guessing", () => {
  test("delays every token, but no session and no link", async () => {
    const turns: (() => void)[] = [];
    const wait = () => new Promise<void>((resolve) => void turns.push(resolve));
    const { console: opened, connect, signIn, clock, refusals } = openTestConsole({ wait });
    const signedIn = await signIn();
    for (let guess = 0; guess < 20; guess += 1) {
      expect((await connect().signIn(guess % 2 === 0 ? { token: "guess" } : { code: "guess" })).status).toBe(401);
    }
    const answers: string[] = [];
    const bearer = (token: string) => connect().get("session", { authorization: `Bearer ${token}` });
    const waiting = [
      () => connect().signIn({ token: "guess" }),
      () => connect().signIn({ token: consoleToken }),
      () => bearer("guess"),
      () => bearer(consoleToken),
    ].map(async (send) => {
      const response = await send();
      answers.push(`${response.status} ${response.headers.get("retry-after")}`);
    });
    expect(await signedIn.read("session")).toMatchObject({ signedIn: true });
    const code = opened.createSignInLink("http://localhost").slice(-32);
    expect((await connect().signIn({ code })).status).toBe(200);
    expect(await codeOf(await connect().signIn({ code }))).toEqual([429, "TOO_MANY_FAILURES"]);
    expect(answers).toEqual([]);
    for (let turn = 1; turn <= waiting.length; turn += 1) {
      await waitFor(() => expect(turns.splice(0).map((takeTurn) => takeTurn())).toHaveLength(1));
      await waitFor(() => expect(answers).toHaveLength(turn));
    }
    expect(answers.toSorted()).toEqual(["200 null", "200 null", "429 60", "429 60"]);
    expect(refusals.map(({ status }) => status)).toEqual([...Array(20).fill(401), 429, 429, 429]);
    clock.now += 60_000;
    expect((await connect().signIn({ token: "guess" })).status).toBe(401);
    await Promise.all(waiting);
  });

  test("is not counted for the owner's own requests", async () => {
    const { signIn, refusals } = openTestConsole();
    for (let time = 0; time < 25; time += 1) await (await signIn()).read("session");
    expect(refusals).toEqual([]);
  });
});

describe("A program", () => {
  test("sends the token in a header, and needs no CSRF token", async () => {
    const { send } = openTestConsole({ resources: [changes] });
    for (const scheme of ["Bearer", "bearer", "BEARER"]) {
      const headers = { authorization: `${scheme} ${consoleToken}`, "content-type": "application/json" };
      expect(await (await send("api/data", { headers })).json()).toEqual({ data: 1 });
      const changed = await send("api/data", { method: "POST", headers, body: "{}" });
      expect(await changed.json()).toEqual({ changed: true });
    }
  });

  test("is refused with a wrong token, even if it also sends a valid cookie", async () => {
    const { signIn } = openTestConsole({ resources: [changes] });
    const client = await signIn();
    const response = await client.get("data", { authorization: "Bearer guess" });
    expect(await codeOf(response)).toEqual([401, "SIGN_IN_INVALID"]);
  });

  test("is not signed in with the password of HTTP Basic authentication", async () => {
    const { send } = openTestConsole({ resources: [changes] });
    const headers = { authorization: `Basic ${btoa(`me:${consoleToken}`)}` };
    expect(await codeOf(await send("api/data", { headers }))).toEqual([401, "SIGN_IN_REQUIRED"]);
  });

  test("is refused if a page of another site sends its token", async () => {
    const { send } = openTestConsole({ resources: [changes] });
    const headers = { authorization: `Bearer ${consoleToken}`, origin: "https://evil.example" };
    const response = await send("api/data", { method: "POST", headers, body: "{}" });
    expect(await codeOf(response)).toEqual([403, "CROSS_SITE_REFUSED"]);
  });
});

describe("A change", () => {
  test.each(["POST", "PUT", "PATCH", "DELETE"])("with %s needs the CSRF token of the session", async (method) => {
    const { signIn, refusals } = openTestConsole({ resources: [changes] });
    const [client, other] = [await signIn(), await signIn()];
    expect(await client.change("data", {}, { method })).toEqual({ status: 200, body: { changed: true } });
    for (const token of ["", "undefined", other.csrfToken, client.csrfToken.toUpperCase(), `${client.csrfToken}0`]) {
      const response = await client.post("data", {}, { method, headers: { "x-csrf-token": token } });
      expect([token, ...(await codeOf(response))]).toEqual([token, 403, "CSRF_TOKEN_INVALID"]);
    }
    expect(refusals).toEqual(Array(5).fill({ code: "CSRF_TOKEN_INVALID", status: 403 }));
  });

  test.each([
    ["of another site", { "sec-fetch-site": "cross-site" }, 403, "CROSS_SITE_REFUSED"],
    ["of another port of this host", { "sec-fetch-site": "same-site" }, 403, "CROSS_SITE_REFUSED"],
    ["that the user typed", { "sec-fetch-site": "none" }, 403, "CROSS_SITE_REFUSED"],
    ["of another origin", { origin: "https://evil.example" }, 403, "CROSS_SITE_REFUSED"],
    ["of a sandboxed frame", { origin: "null" }, 403, "CROSS_SITE_REFUSED"],
    ["of a rebound name", { host: "localhost", origin: "http://evil.example" }, 403, "CROSS_SITE_REFUSED"],
    ["of a form", { "content-type": "application/x-www-form-urlencoded" }, 415, "MEDIA_TYPE_UNSUPPORTED"],
    ["as plain text", { "content-type": "text/plain" }, 415, "MEDIA_TYPE_UNSUPPORTED"],
    ["as text that contains JSON", { "content-type": "text/plain; application/json" }, 415, "MEDIA_TYPE_UNSUPPORTED"],
    ["of a similar type", { "content-type": "application/jsonp" }, 415, "MEDIA_TYPE_UNSUPPORTED"],
  ] as const)("%s is refused, also to sign in and out", async (_what, headers, status, code) => {
    const { signIn, refusals } = openTestConsole({ resources: [changes] });
    const client = await signIn();
    for (const [path, method] of [
      ["data", "POST"],
      ["session", "POST"],
      ["session", "DELETE"],
    ] as const) {
      const response = await client.post(path, { token: consoleToken }, { headers, method });
      expect(response.headers.get("set-cookie")).toBeNull();
      expect([path, ...(await codeOf(response))]).toEqual([path, status, code]);
    }
    expect(refusals).toEqual(Array(3).fill({ code, status }));
  });

  test("of the console's own page is accepted", async () => {
    const { signIn } = openTestConsole({ resources: [changes], url: "https://bot.example" });
    const client = await signIn();
    const headers = {
      ...{ host: "bot.example", origin: "https://bot.example", "sec-fetch-site": "same-origin" },
      "content-type": "application/json; charset=utf-8",
    };
    expect((await client.post("data", {}, { headers })).status).toBe(200);
  });

  test("without a session is refused before its body is read", async () => {
    const { send } = openTestConsole({ resources: [changes] });
    const body = new ReadableStream({
      pull: () => {
        throw new Error("read");
      },
    });
    const init = { method: "POST", headers: { "content-type": "application/json" }, body, duplex: "half" };
    expect(await codeOf(await send("api/data", init))).toEqual([401, "SIGN_IN_REQUIRED"]);
  });
});
