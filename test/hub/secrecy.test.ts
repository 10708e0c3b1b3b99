import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import type { WebhookRequest } from "../../src/client.ts";
import { holdsSecret } from "../support/secrets.ts";
import {
  closedAddress,
  connect,
  openClient,
  openHub,
  rejectionOf,
  type ScriptedAnswer,
  token,
  urlWebhook,
} from "./scripted-hub.ts";

const secret = 'Planted "5ecret" \\ of b81f0c27/+&';
const jobSecret = "Planted-j0b-secret";
const querySecret = "Planted-qu3ry-secret";
const planted = [token, secret, jobSecret, querySecret];

const toUrl: WebhookRequest = {
  watched: [{ type: "user", name: "ada" }],
  domains: ["repo"],
  url: `https://acme.example/hook?a=1&secret=${querySecret}`,
  secret,
};
const { url: _url, ...toNothing } = toUrl;
const toJob: WebhookRequest = { ...toNothing, job: { flavor: "cpu-basic", secrets: { KEY: jobSecret } } };

function expectClean(error: unknown): void {
  const shown = [inspect(error, { depth: 10, showHidden: true }), JSON.stringify(error), String(error), error];
  for (const value of planted) expect(holdsSecret(shown, value), inspect(error, { depth: 10 })).toBe(false);
}

/** Repeats the whole request: its headers, and its body unchanged. */
function echo(status: number): ScriptedAnswer {
  return async (request, response) => {
    const said = JSON.stringify([request.headers, request.url]);
    response.writeHead(status, {
      "x-error-code": request.headers.authorization ?? "",
      "x-error-message": request.headers.authorization ?? "",
      "x-request-id": request.headers.authorization ?? "",
    });
    response.end(JSON.stringify({ error: [said, ...planted, ...planted.map(encodeURIComponent)] }));
  };
}

describe("A secret that the Hub repeats is redacted in errors", () => {
  test.each([400, 401, 403, 404, 409, 422, 429, 500, 302])("with status %i", async (status) => {
    const hub = await openHub(echo(status));
    const { webhooks } = connect(hub.url);
    for (const request of [toUrl, toJob]) {
      const hidden = request === toUrl ? [token, secret, querySecret] : [token, secret, jobSecret];
      const error = await rejectionOf(webhooks.create(request));
      expect(error).toMatchObject({ status, message: expect.stringContaining("[redacted]") });
      for (const value of hidden) expect(holdsSecret([inspect(error, { depth: 10 }), error], value)).toBe(false);
    }
  });

  const said: readonly [string, string][] = [
    ["unchanged", secret],
    ["as JSON inside of text", JSON.stringify({ secret })],
    ["inside a URL", `https://acme.example/?secret=${encodeURIComponent(secret)}`],
    ["with control characters in it", [...secret].join("\u0000")],
    ["next to the token", `${token}${secret}`],
  ];
  test.each(said)("%s", async (_how, text) => {
    const hub = await openHub({ status: 400, json: { error: `no: ${text}` } });
    const error = await rejectionOf(connect(hub.url).webhooks.create(toUrl));
    expect(error).toMatchObject({ message: expect.stringContaining("no: ") });
    expectClean(error);
  });

  const url = (end: string) => ({ url: `https://${end}` });
  const long = "x".repeat(500 - secret.length / 2);
  test.each<[how: string, changes: Partial<WebhookRequest>, error: string, shown: string]>([
    ["encoded for a URL", {}, `?s=${encodeURIComponent(secret)}`, "?s=[redacted]"],
    ["whose two spaces were collapsed into one", { secret: "Planted  two" }, "bad: Planted two.", "bad: [redacted]"],
    ["that is part of a longer one", { secret: token.slice(0, 8) }, `bad: ${token}.`, "bad: [redacted]"],
    ["from a URL's query", url("a.example/?Secret=Plan%2Fted"), "bad: Plan%2Fted.", "bad: [redacted]"],
    ["from a URL's query, decoded", url("a.example/?token=Plan%2fted"), "bad: Plan/ted.", "bad: [redacted]"],
    ["from a URL's query, partly decoded", url("a.example/?token=Plan%2fted"), "bad: Plan%2fted.", "bad: [redacted]"],
    ["that is a URL's password", url("ada:Planted@a.example/"), "bad: ada:Planted.", "bad: ada:[redacted]"],
    ["cut in two by the length limit of the message", {}, `${long}${secret}`, `${long}[redacted]`],
    ["that is short, by leaving out the whole text", { secret: "abc" }, "abc is bad", "(removed: contains a secret)"],
    ["unless it is empty", { secret: "" }, "the URL is bad", "the URL is bad"],
  ])("%s", async (_how, changes, error, shown) => {
    const hub = await openHub({ status: 400, json: { error } });
    const rejection = await rejectionOf(connect(hub.url).webhooks.create({ ...toUrl, ...changes }));
    expect(rejection).toMatchObject({ message: expect.stringContaining(`status 400: ${shown}. Fix`) });
    expect(inspect(rejection)).not.toMatch(/Plan.{0,3}ted/);
  });

  test("that is the value of a secret of a Space", async () => {
    const hub = await openHub({ status: 400, json: { error: `bad value ${secret}` } });
    const body = JSON.stringify({ key: "WEBHOOK_SECRET", value: secret });
    const set = openClient(hub).fetch("/api/spaces/me/bot/secrets", { method: "POST", body });
    expectClean(await rejectionOf(set));
  });

  test("that was read from the Hub and written back", async () => {
    const hub = await openHub(
      { json: { webhook: { ...urlWebhook, secret } } },
      { status: 400, json: { error: `bad secret ${secret}` } },
    );
    const error = await rejectionOf(connect(hub.url).webhooks.update("w1", { domains: ["repo"] }));
    expect(error).toMatchObject({ message: expect.stringContaining("bad secret [redacted]") });
    expectClean(error);
  });
});

describe("Errors contain no secret", () => {
  test("of invalid arguments", async () => {
    const { webhooks } = connect("http://hub.example");
    const broken = { ...toUrl, secret: `${secret}é`, watched: [] };
    const error = await rejectionOf(webhooks.create(broken));
    expect(error).toMatchObject({ code: "ARGUMENT_INVALID", fields: ["watched", "secret"] });
    expectClean(error);
    expectClean(
      await rejectionOf(webhooks.update("w1", { secret: `${secret}é`, job: { secrets: { "1": jobSecret } } })),
    );
  });

  test("of an update with fields that cannot be read back", async () => {
    const hub = await openHub({
      json: { webhook: { ...urlWebhook, url: undefined, secret, job: { flavor: "x", secrets: ["A"] } } },
    });
    const error = await rejectionOf(connect(hub.url).webhooks.update("w1", { job: { arch: null } }));
    expect(error).toMatchObject({ code: "VALUE_UNREADABLE" });
    expectClean(error);
  });

  test("of a failed connection", async () => {
    const error = await rejectionOf(connect(await closedAddress(), { attempts: 1 }).webhooks.create(toUrl));
    expect(error).toMatchObject({ code: "HUB_UNREACHABLE", cause: { code: "ECONNREFUSED" } });
    expectClean(error);
  });

  test("of a fetch that throws an error with the whole request on it", async () => {
    const careless: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      const body = await request.clone().text();
      const cause = Object.assign(new Error(`${request.headers.get("authorization")} ${body}`), { request, init });
      throw Object.assign(new Error(`Cannot send ${JSON.stringify(init)}`, { cause }), { init, code: token });
    };
    const { webhooks } = connect("http://hub.example", { fetch: careless, attempts: 1 });
    for (const request of [toUrl, toJob]) {
      const error = await rejectionOf(webhooks.create(request));
      expect(error).toMatchObject({ code: "HUB_UNREACHABLE", message: expect.stringContaining("Cannot send") });
      expectClean(error);
    }
  });

  test("of a response that is not JSON, or has another shape", async () => {
    const hub = await openHub({ text: `${token} ${secret}` }, { json: { [token]: secret, webhook: [token] } });
    const { webhooks } = connect(hub.url);
    for (const _answer of [1, 2]) {
      const error = await rejectionOf(webhooks.create(toUrl));
      expect(error).toMatchObject({ code: "HUB_RESPONSE_INVALID" });
      expectClean(error);
    }
  });
});

test("Inspecting or serializing the client does not reveal its token", async () => {
  const hub = await openHub({ json: [] });
  const client = openClient(hub);
  await client.webhooks.list();
  for (const value of [client, client.webhooks]) {
    expect(inspect(value, { depth: 10, showHidden: true })).not.toContain(token);
    expect(JSON.stringify(value)).not.toContain(token);
    expect(holdsSecret(value, token)).toBe(false);
  }
  expect(JSON.parse(JSON.stringify(client))).toMatchObject({ hubUrl: hub.url });
});
