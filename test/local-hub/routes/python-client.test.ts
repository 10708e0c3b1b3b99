import { describe, expect, test } from "vitest";
import { type Answer, data, openLocalHub, type TestHub } from "../support/hub.ts";

const path = "/api/settings/webhooks";
const url = "http://127.0.0.1:1/a";
/** As Python's client names itself. */
const userAgent = "unknown/None; hf_hub/1.29.0; python/3.13.1";

function ask(hub: TestHub, line: string, body: object, agent = userAgent): Promise<Answer> {
  return hub.request(line, { body, headers: { "user-agent": agent } });
}

describe("Python's client", () => {
  test("may leave out the domains of a new webhook, and is warned that the API asks for them", async () => {
    const hub = await openLocalHub();
    const answer = await ask(hub, `POST ${path}`, { watched: [data], url });
    expect(answer.body).toMatchObject({ webhook: { watched: [data], domains: ["repo", "discussion"], url } });
    expect(answer.headers.get("x-hf-warning")).toMatch(/^webhooks; .*"domains".*--domain/);
  });

  test("may say discussions", async () => {
    const hub = await openLocalHub();
    const answer = await ask(hub, `POST ${path}`, { watched: [data], url, domains: ["discussions"] });
    expect(answer.body).toMatchObject({ webhook: { domains: ["discussion"] } });
    expect(answer.headers.get("x-hf-warning")).toContain('"discussions"');
  });

  test.each([
    ["its URL", { url: "http://127.0.0.1:1/b" }],
    ["its secret", { secret: "new" }],
    ["what it watches", { watched: [{ type: "org", name: "acme" }] }],
    ["its domains", { domains: ["repo"] }],
  ])("may change of a webhook %s alone: its update sends an empty list of what is watched", async (_what, changes) => {
    const hub = await openLocalHub();
    const made = await hub.create({ url, domains: ["discussion"] });
    const answer = await ask(hub, `POST ${path}/${made.id}`, { watched: [], ...changes });
    expect(answer.body).toEqual({ webhook: { ...made, ...changes } });
    expect(answer.headers.get("x-hf-warning")).toMatch(/^webhooks; /);
  });

  test("is warned of nothing where its request is whole", async () => {
    const hub = await openLocalHub();
    const answer = await ask(hub, `POST ${path}`, { watched: [data], url, domains: ["repo"] });
    expect([answer.status, answer.headers.has("x-hf-warning")]).toEqual([200, false]);
  });

  test.each([
    ["an empty list for a new webhook", { watched: [], url }, "watched"],
    ["no URL", { watched: [data], url: "nowhere" }, "url"],
    ["no list at all", { watched: data, url }, "watched"],
    ["no object", [], "body"],
  ])("is refused as everybody else is: %s", async (_what, body, field) => {
    const hub = await openLocalHub();
    const answer = await ask(hub, `POST ${path}`, body);
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(`${field}: `) } });
    expect(answer.headers.has("x-hf-warning")).toBe(false);
  });

  test("is not told of a webhook of somebody else", async () => {
    const hub = await openLocalHub();
    const { id } = await hub.create({ url }, { token: "hf_other" });
    const answer = await ask(hub, `POST ${path}/${id}`, { watched: [], url });
    expect([answer.status, answer.headers.has("x-hf-warning")]).toEqual([404, false]);
  });
});

test("Every other client is held to the API: domains and what is watched are required", async () => {
  const hub = await openLocalHub();
  const { id } = await hub.create({ url });
  for (const agent of ["hub-webhooks", "python-httpx/0.28", "node"]) {
    expect((await ask(hub, `POST ${path}`, { watched: [data], url }, agent)).status).toBe(400);
    expect((await ask(hub, `POST ${path}/${id}`, { watched: [], domains: ["repo"] }, agent)).status).toBe(400);
  }
});
