import { beforeEach, describe, expect, test } from "vitest";
import { type Answer, data, openLocalHub, type TestHub } from "../support/hub.ts";

const path = "/api/settings/webhooks";
const url = "http://127.0.0.1:1/a";
/** The User-Agent of Python's client. */
const userAgent = "unknown/None; hf_hub/1.29.0; python/3.13.1";

function ask(hub: TestHub, line: string, body: object, agent = userAgent): Promise<Answer> {
  return hub.request(line, { body, headers: { "user-agent": agent } });
}

let hub: TestHub;
beforeEach(async () => {
  hub = await openLocalHub();
});

describe("Python's client, huggingface_hub,", () => {
  test("can omit the domains of a new webhook, and gets a warning that the API requires them", async () => {
    const answer = await ask(hub, `POST ${path}`, { watched: [data], url });
    expect(answer.body).toMatchObject({ webhook: { watched: [data], domains: ["repo", "discussion"], url } });
    expect(answer.headers.get("x-hf-warning")).toMatch(/^webhooks; .*"domains".*--domain/);
  });

  test("can send the domain discussions", async () => {
    const answer = await ask(hub, `POST ${path}`, { watched: [data], url, domains: ["discussions"] });
    expect(answer.body).toMatchObject({ webhook: { domains: ["discussion"] } });
    expect(answer.headers.get("x-hf-warning")).toContain('"discussions"');
  });

  test.each([
    ["the URL", { url: "http://127.0.0.1:1/b" }],
    ["the secret", { secret: "new" }],
    ["the watched items", { watched: [{ type: "org", name: "acme" }] }],
    ["the domains", { domains: ["repo"] }],
  ])("can change only %s of a webhook, with an empty list of watched items", async (_what, changes) => {
    const made = await hub.create({ url, domains: ["discussion"] });
    const answer = await ask(hub, `POST ${path}/${made.id}`, { watched: [], ...changes });
    expect(answer.body).toEqual({ webhook: { ...made, ...changes } });
    expect(answer.headers.get("x-hf-warning")).toMatch(/^webhooks; /);
  });

  test("gets no warning for a complete request", async () => {
    const answer = await ask(hub, `POST ${path}`, { watched: [data], url, domains: ["repo"] });
    expect([answer.status, answer.headers.has("x-hf-warning")]).toEqual([200, false]);
  });

  test.each([
    ["an empty list for a new webhook", { watched: [], url }, "watched"],
    ["an invalid URL", { watched: [data], url: "nowhere" }, "url"],
    ["watched that is not a list", { watched: data, url }, "watched"],
    ["a body that is not an object", [], "body"],
  ])("gets the same error as other clients for %s", async (_what, body, field) => {
    const answer = await ask(hub, `POST ${path}`, body);
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(`${field}: `) } });
    expect(answer.headers.has("x-hf-warning")).toBe(false);
  });

  test("cannot read a webhook of another user", async () => {
    const { id } = await hub.create({ url }, { token: "hf_other" });
    const answer = await ask(hub, `POST ${path}/${id}`, { watched: [], url });
    expect([answer.status, answer.headers.has("x-hf-warning")]).toEqual([404, false]);
  });
});

test("Other clients must send domains and watched items", async () => {
  const { id } = await hub.create({ url });
  for (const agent of ["hub-webhooks", "python-httpx/0.28", "node"]) {
    expect((await ask(hub, `POST ${path}`, { watched: [data], url }, agent)).status).toBe(400);
    expect((await ask(hub, `POST ${path}/${id}`, { watched: [], domains: ["repo"] }, agent)).status).toBe(400);
  }
});
