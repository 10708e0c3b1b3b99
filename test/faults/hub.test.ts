import { inspect } from "node:util";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { HubClient, type HubClientOptions, type HubError } from "../../src/client.ts";
import { openSocketHub, rejectionOf, type ScriptedAnswer } from "../hub/scripted-hub.ts";
import { holdsSecret } from "../support/secrets.ts";
import { countRows } from "./rows.ts";

countRows("hub");

/** The token and the webhook secret of all tests in this file. Neither may appear in an error or on a page. */
const token = "hf_PlantedToken4c1d";
const secret = "Planted-5ecret-77ab";

const webhook = {
  id: "65b2f0a1c3d4e5f60718293a",
  url: "https://acme-bot.hf.space/webhooks/retrain",
  disabled: false,
  watched: [{ name: "acme/data", type: "dataset" }],
  domains: ["repo"],
};

/** Backoff is randomized. With 0, retries start immediately. */
beforeEach(() => {
  vi.spyOn(Math, "random").mockReturnValue(0);
  return () => vi.restoreAllMocks();
});

/** Answers like a Hub that echoes the request's token and secret in its response. */
function echo(status: number, headers: Record<string, string> = {}): ScriptedAnswer {
  return (asked, response) => {
    response.writeHead(status, { ...headers, "x-error-message": asked.headers.authorization ?? "" });
    response.end(JSON.stringify({ error: `${asked.headers.authorization} ${secret}` }));
  };
}

interface Expected {
  code: HubError["code"];
  /** Matches the remedy in the error message. */
  says: RegExp;
  /** Number of requests to the Hub. */
  attempts: number;
}

/**
 * Asserts that a failed update makes a bounded number of attempts, throws an error with a remedy and without secrets,
 * and leaves the client usable.
 */
async function survives(
  faults: readonly ScriptedAnswer[],
  { code, says, attempts }: Expected,
  options: HubClientOptions = {},
) {
  const repeated = Array.from({ length: attempts }, (_, index) => faults[index] ?? faults.at(-1) ?? {});
  const hub = await openSocketHub({ json: { webhook } }, ...repeated, { json: { webhook } });
  const client = new HubClient({ token, hubUrl: hub.url, ...options });
  const error = await rejectionOf(client.webhooks.update(webhook.id, { secret }));
  expect(error).toMatchObject({ name: "HubError", code, message: expect.stringMatching(says) });
  expect(hub.calls.filter((call) => call.startsWith("POST"))).toHaveLength(attempts);
  for (const planted of [token, secret]) {
    expect(holdsSecret([error, inspect(error, { depth: 10 }), inspect(client, { depth: 10 })], planted)).toBe(false);
  }
  expect(await client.webhooks.get(webhook.id)).toEqual(webhook);
}

describe("A failing Hub", () => {
  test.each<[string, ScriptedAnswer, Expected]>([
    ["401", echo(401), { code: "HUB_UNAUTHORIZED", says: /HF_TOKEN/, attempts: 1 }],
    ["403", echo(403), { code: "HUB_FORBIDDEN", says: /write permission/, attempts: 1 }],
    ["429", echo(429), { code: "HUB_RATE_LIMITED", says: /try again/i, attempts: 4 }],
    [
      "429 for an hour",
      echo(429, { ratelimit: '"api";r=0;t=3600' }),
      { code: "HUB_RATE_LIMITED", says: /3600/, attempts: 1 },
    ],
    ["500", echo(500), { code: "HUB_FAILED", says: /try again later/i, attempts: 4 }],
    [
      "503 until 2099",
      echo(503, { "retry-after": "Thu, 01 Jan 2099 00:00:00 GMT" }),
      { code: "HUB_FAILED", says: /\d{6,} s/, attempts: 1 },
    ],
    [
      "a redirect",
      echo(307, { location: "http://127.0.0.1:9/" }),
      { code: "HUB_REFUSED", says: /HF_ENDPOINT/, attempts: 1 },
    ],
    [
      "HTML",
      { text: "<html><title>Sign in</title>" },
      { code: "HUB_RESPONSE_INVALID", says: /HF_ENDPOINT/, attempts: 1 },
    ],
    ["half of the JSON", { text: '{"webhook": {' }, { code: "HUB_RESPONSE_INVALID", says: /HF_ENDPOINT/, attempts: 1 }],
    [
      "JSON 100,000 levels deep",
      { text: "[".repeat(100_000) + "]".repeat(100_000) },
      { code: "HUB_RESPONSE_INVALID", says: /HF_ENDPOINT/, attempts: 1 },
    ],
    [
      "another shape",
      { json: { webhook: { id: 7 } } },
      { code: "HUB_RESPONSE_INVALID", says: /HF_ENDPOINT/, attempts: 1 },
    ],
    [
      "a reset",
      (asked) => asked.socket.resetAndDestroy(),
      { code: "HUB_UNREACHABLE", says: /Check the connection/, attempts: 4 },
    ],
    [
      "no HTTP",
      (asked) => asked.socket.end("SSH-2.0-OpenSSH\r\n"),
      { code: "HUB_UNREACHABLE", says: /Check the connection/, attempts: 4 },
    ],
  ])("T4: answers with %s", async (_what, fault, expected) => {
    await survives([fault], expected);
  });
});

describe("A webhook that the Hub has suspended", () => {
  test("T5: is reported as suspended and can be enabled again", async () => {
    const suspended = { ...webhook, disabled: "suspended-after-failure" };
    const hub = await openSocketHub(
      { json: [webhook, suspended] },
      { json: { webhook: suspended } },
      { json: { webhook } },
    );
    const { webhooks } = new HubClient({ token, hubUrl: hub.url });

    const found = (await webhooks.list()).filter(({ disabled }) => disabled === "suspended-after-failure");
    expect(found).toEqual([suspended]);
    expect(await webhooks.get(webhook.id)).toMatchObject({ disabled: "suspended-after-failure" });
    expect(await webhooks.enable(webhook.id)).toMatchObject({ disabled: false });
    expect(hub.calls.at(-1)).toBe(`POST /api/settings/webhooks/${webhook.id}/enable`);
  });
});
