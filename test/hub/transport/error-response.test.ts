import { describe, expect, test } from "vitest";
import { HubError } from "../../../src/client.ts";
import { connect, openHub, rejectionOf, type ScriptedAnswer, token } from "../scripted-hub.ts";

/** Returns the error of a call that gets this response and is not retried. */
async function refusal(answer: ScriptedAnswer): Promise<unknown> {
  const hub = await openHub(answer);
  const error = await rejectionOf(connect(hub.url, { attempts: 1 }).webhooks.list());
  expect(hub.calls).toHaveLength(1);
  return error;
}

async function messageOf(answer: ScriptedAnswer): Promise<string> {
  const error = await refusal(answer);
  return error instanceof Error ? error.message : "";
}

const codes: Readonly<Record<string, readonly number[]>> = {
  ...{ HUB_REQUEST_INVALID: [400, 422], HUB_UNAUTHORIZED: [401], HUB_FORBIDDEN: [403], HUB_NOT_FOUND: [404] },
  ...{
    HUB_RATE_LIMITED: [429],
    HUB_CONFLICT: [412],
    HUB_REFUSED: [304, 402, 409, 418],
    HUB_FAILED: [500, 502, 503, 504],
  },
};
test.each(Object.entries(codes).flatMap(([code, statuses]) => statuses.map((status) => [status, code] as const)))(
  "The status %i is %s",
  async (status, code) => {
    const retryable = status === 429 || status >= 500;
    const error = await refusal({ status });
    expect(error).toBeInstanceOf(HubError);
    expect(error).toMatchObject({ name: "HubError", code, status, retryable });
  },
);

describe("The message contains the reason that the Hub gives", () => {
  test.each<[string, ScriptedAnswer, string]>([
    ["{error: text}", { status: 400, json: { error: "url is not public" } }, "status 400: url is not public. "],
    ["{error: texts}", { status: 400, json: { error: ["no url", "no domains"] } }, "status 400: no url; no domains. "],
    [
      "{error, error_description}",
      { status: 401, json: { error: "invalid_token", error_description: "It has expired." } },
      "status 401: invalid_token: It has expired. ",
    ],
    [
      "{errors: [{message}]}",
      { status: 422, json: { errors: [{ message: "no url" }, { message: "no domains" }] } },
      "status 422: no url; no domains. ",
    ],
    ["{message}", { status: 409, json: { message: "exists" } }, "status 409: exists. "],
    ["a JSON text", { status: 409, json: "exists" }, "status 409: exists. "],
    ["plain text", { status: 502, text: "upstream\n gone" }, "status 502: upstream gone. "],
    [
      "a web page, by its title",
      { status: 503, text: "<!DOCTYPE html><html><title>Down for\nrepair</title><script>alert(1)</script>" },
      "status 503: Down for repair. ",
    ],
    ["a web page without a title, not at all", { status: 503, text: "<html><b>no" }, "status 503. "],
    ["nothing", { status: 500 }, "status 500. "],
    ["JSON without a reason", { status: 400, json: { error: { code: 7 }, errors: [null] } }, "status 400. "],
    ["broken JSON, not at all", { status: 400, text: '{"error": "a' }, "status 400. "],
    [
      "X-Error-Message, if the body is empty",
      { status: 404, headers: { "x-error-code": "RepoNotFound", "x-error-message": "No such repo" } },
      "status 404 (RepoNotFound): No such repo. ",
    ],
    [
      "the body, even if X-Error-Message is set",
      { status: 404, headers: { "x-error-message": "short" }, json: { error: "long" } },
      "status 404: long. ",
    ],
  ])("from %s", async (_shape, answer, description) => {
    expect(await messageOf(answer)).toContain(`Could not list your webhooks: the Hub returned ${description}`);
  });

  test("without a period after another punctuation mark", async () => {
    expect(await messageOf({ status: 400, json: { error: 'Did you mean "org.create"?' } })).toContain(
      'returned status 400: Did you mean "org.create"? Fix the request',
    );
  });

  test("with the ID of the request", async () => {
    const headers = { "x-request-id": "Root=1-65b2f0a1" };
    expect(await refusal({ status: 400, headers })).toMatchObject({ requestId: "Root=1-65b2f0a1" });
    expect(await messageOf({ status: 500, headers })).toContain("the request ID Root=1-65b2f0a1");
    expect(await refusal({ status: 400 })).toMatchObject({ requestId: undefined });
  });

  test("without control characters of terminals", async () => {
    const error = "\u001b[2J\u001b]0;title\u0007bad\r\n\u0000\u202egood\u009b1m";
    expect(await messageOf({ status: 400, json: { error } })).toContain("status 400: ]0;titlebad good1m. ");
  });

  test("truncated to the maximum length", async () => {
    const message = await messageOf({ status: 400, json: { error: "x".repeat(10_000) } });
    expect(message).toContain(`${"x".repeat(500)}…`);
    expect(message.length).toBeLessThan(1_000);
  });

  test("but not from an endless body", async () => {
    const message = await messageOf((_request, response) => {
      response.writeHead(500);
      const chunk = "e".repeat(16_384);
      const write = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", write);
      write();
    });
    expect(message).toContain("status 500. ");
  });

  test("but only the status from an incomplete body", async () => {
    const message = await messageOf((_request, response) => {
      response.writeHead(401, { "content-length": "100" });
      response.write('{"error": "', () => response.destroy());
    });
    expect(message).toContain("status 401. ");
  });
});

describe("A redirect response", () => {
  test.each([
    ...[301, 302, 303, 307, 308].map((status) => [status, "to another server, which could read the token"] as const),
    ...[301, 302, 303].map((status) => [status, "on the Hub, because it drops the body of a request"] as const),
  ])("%i is not followed %s", async (status, target) => {
    const elsewhere = await openHub({ json: [] });
    const location = target.startsWith("on the Hub") ? "/api/renamed" : `${elsewhere.url}/api/settings/webhooks`;
    expect(await refusal({ status, headers: { location } })).toMatchObject({ code: "HUB_REFUSED", status });
    expect(elsewhere.calls).toEqual([]);
  });

  test.each([307, 308])("%i on the Hub is followed with the method, the body, and the token", async (status) => {
    const hub = await openHub({ status, headers: { location: "/api/renamed" } }, { json: { webhook: {} } });
    const request = { url: "https://me-bot.hf.space/hook", watched: [{ type: "user", name: "me" } as const] };
    await rejectionOf(connect(hub.url).webhooks.create({ ...request, domains: ["repo"], secret: "Valid-5ecret" }));
    const [first, second] = hub.requests;
    expect(second).toEqual({ ...first, path: "/api/renamed" });
  });

  test("is an error without its location", async () => {
    expect(await messageOf({ status: 302, headers: { location: `https://evil.example/?t=${token}` } })).not.toContain(
      "evil",
    );
  });
});
