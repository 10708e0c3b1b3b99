import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { HubClient, type HubClientOptions, type WebhookChanges, type WebhookRequest } from "../../src/client.ts";
import { errorsOf } from "../support/error-messages.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { closedAddress, connect, jobWebhook, openHub, type ScriptedAnswer, urlWebhook } from "./scripted-hub.ts";

/** The wording of the Hub client: change a text, read the difference, and run vitest with `-u`. Other tests assert codes. */

let home: string;

beforeEach(() => {
  home = createFolder();
  const cleared = ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_HOME", "XDG_CACHE_HOME", "HF_ENDPOINT"];
  for (const name of cleared) vi.stubEnv(name, undefined);
  vi.stubEnv("HOME", home);
});

const toUrl: WebhookRequest = { watched: [{ type: "user", name: "ada" }], domains: ["repo"], url: "https://a.example" };

test("Invalid options", async () => {
  const create = (options: object) => () => new HubClient(Object.assign<HubClientOptions, object>({}, options));
  expect(
    await errorsOf({
      hubUrl: create({ hubUrl: "hub.example" }),
      token: create({ token: 7 }),
      attempts: create({ attempts: 0 }),
      timeout: create({ timeout: "soon" }),
      "unknown option": create({ endpoint: "https://hub.example" }),
    }),
  ).toMatchSnapshot();
});

test("Missing and invalid tokens", async () => {
  const list = (options: HubClientOptions = {}) =>
    new HubClient({ hubUrl: "http://hub.example", ...options }).webhooks.list();
  const listWithFile = async (path: string) => {
    vi.stubEnv("HF_TOKEN_PATH", path);
    await list();
  };
  const lines = join(home, "tokens");
  writeFileSync(lines, "hf_one\nhf_two\n");
  expect(
    await errorsOf({
      "no token": () => list(),
      "unreadable file": () => listWithFile(home),
      "file of several lines": () => listWithFile(lines),
      "token with white space": () => list({ token: "hf_ one" }),
    }),
  ).toMatchSnapshot();
});

test("Invalid arguments", async () => {
  const { webhooks, fetch } = connect("http://hub.example");
  expect(
    await errorsOf({
      "missing fields": () => webhooks.create(Object.assign({ ...toUrl }, { watched: undefined, url: 7 })),
      "empty ID": () => webhooks.get(""),
      "no changes": () => webhooks.update("w1", {}),
      "path of another origin": () => fetch("https://other.example/api"),
    }),
  ).toMatchSnapshot();
});

test("Error responses of the Hub", async () => {
  const answers: Record<string, ScriptedAnswer> = {
    ...Object.fromEntries(
      [304, 400, 401, 402, 403, 404, 409, 422, 429, 500, 503].map((status) => [`${status}`, { status }]),
    ),
    "400 with a reason": { status: 400, json: { error: "url is not public" } },
    "403 with a reason": { status: 403, json: { error: "You need a role." } },
    "422 with several reasons": { status: 422, json: { errors: [{ message: "no url" }, { message: "no domains" }] } },
    "429 with a time": { status: 429, headers: { "retry-after": "7" } },
    "500 with a request ID": { status: 500, headers: { "x-request-id": "Root=1-2" } },
    "404 with a code": { status: 404, headers: { "x-error-code": "RepoNotFound" } },
  };
  const calls = Object.entries(answers).map(([name, answer]) => [
    name,
    async () => connect((await openHub(answer)).url, { attempts: 1 }).webhooks.get("w1"),
  ]);
  expect(await errorsOf(Object.fromEntries(calls))).toMatchSnapshot();
});

test("Responses that are missing or invalid", async () => {
  const read = (answer: ScriptedAnswer) => async () => connect((await openHub(answer)).url).webhooks.get("w1");
  const silent = await openHub(() => {});
  const failing = await openHub({ status: 503 });
  const closed = await closedAddress();
  expect(
    await errorsOf({
      "web page": read({ text: "<!doctype html><title>Sign in</title>" }),
      "half of the JSON": read({ text: '[{"id":' }),
      nothing: read({ text: "" }),
      "another object": read({ json: { webhook: { id: 7 } } }),
      "no response in time": () => connect(silent.url, { timeoutMs: 200, attempts: 1 }).webhooks.get("w1"),
      "no response in time to a change": () => connect(silent.url, { timeoutMs: 200 }).webhooks.create(toUrl),
      "failed change": () => connect(failing.url).webhooks.create(toUrl),
      "failed request of fetch": () => connect(failing.url).fetch("/api/new", { method: "POST", body: "{}" }),
      unreachable: () => connect(closed, { attempts: 1 }).webhooks.get("w1"),
    }),
  ).toMatchSnapshot();
});

test("Calls that the Hub supports only in another form", async () => {
  const update = (webhook: object, changes: WebhookChanges) => async () =>
    connect((await openHub({ json: { webhook } })).url).webhooks.update("w1", changes);
  const refusing = await openHub({ status: 404 });
  expect(
    await errorsOf({
      "update of a job": update(jobWebhook, { domains: ["discussion"] }),
      "update with a hidden secret": update({ ...urlWebhook, secret: "****" }, { domains: ["repo"] }),
      "update without a target": update({ ...urlWebhook, url: undefined }, { domains: ["repo"] }),
      "token revoked by its value": () =>
        connect(refusing.url).organizations.revokeToken("acme", { token: "hf_PlantedOther55" }),
    }),
  ).toMatchSnapshot();
});
