import { describe, expect, test } from "vitest";
import { specifiedRoutes } from "../../src/local-hub/routes/index.ts";
import { RawSocket, requestBytes } from "../support/raw-socket.ts";
import { type Answer, data, openLocalHub, secret, shareLocalHub } from "./support/hub.ts";

const path = "/api/settings/webhooks";
const unknownId = "0123456789abcdef01234567";
const valid = { watched: [data], domains: ["repo"], url: "http://127.0.0.1:1/" };

/** The operations on one webhook. */
const operations = specifiedRoutes
  .filter(({ path }) => path.includes("{webhookId}"))
  .flatMap(({ operationId, method, path }) =>
    (path.includes("{action}") ? ["enable", "disable"] : [""]).map((action) => ({
      line: (id: string) =>
        `${method.toUpperCase()} ${path.replace("{webhookId}", id).replace("{action}", action).replace("{logId}", "x")}`,
      body: operationId === "updateWebhook" ? valid : undefined,
    })),
  );

/** For requests that change nothing. */
const hub = await shareLocalHub({ overSocket: true });

/** Checks the parts that all error responses have, and returns the message. */
function refused(answer: Answer, { status, code }: { status: number; code: string }): string {
  expect(answer.status, answer.text).toBe(status);
  expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
  expect(answer.body).toEqual({ error: expect.stringMatching(/\w/) });
  expect(answer.headers.get("x-error-code")).toBe(code);
  expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f]{24}$/);
  const said = answer.headers.get("x-error-message") ?? "";
  expect(answer.body).toEqual({ error: said });
  return said;
}

const badRequest = { status: 400, code: "BadRequest" };
const unauthorized = { status: 401, code: "Unauthorized" };
const notFound = { status: 404, code: "NotFound" };

describe("A 404 is returned", () => {
  test("for an unknown webhook", async () => {
    const hub = await openLocalHub();
    const foreign = await hub.create({ url: "http://127.0.0.1:1/" }, { token: "hf_other" });
    const ids = [foreign.id, unknownId, unknownId.toUpperCase(), "1", "x".repeat(2_000), "__proto__", "a%2Fb"];
    for (const { line, body } of operations) {
      for (const id of ids) {
        const said = refused(await hub.request(line(id), { body }), notFound);
        // A webhook of another user gets the same error.
        expect(said.replace(decodeURIComponent(id), "ID")).toBe('There is no webhook "ID".');
      }
    }
    expect((await hub.request(`GET ${path}/${foreign.id}`, { token: "hf_other" })).body).toEqual({ webhook: foreign });
  });

  test("for an unknown log entry", async () => {
    const hub = await openLocalHub();
    const made = await hub.create({ url: "http://127.0.0.1:1/" });
    const other = await hub.create({ url: "http://127.0.0.1:1/", watched: [{ type: "org", name: "acme" }] });
    const [delivery] = await hub.trigger();
    for (const [id, logId] of [
      [made.id, unknownId],
      [made.id, "nothing"],
      [other.id, delivery?.logId],
    ]) {
      expect(refused(await hub.request(`POST ${path}/${id}/replay/${logId}`), notFound)).toContain(String(logId));
    }
  });

  test("for an unknown path, with a hint for handlers that call it", async () => {
    const lines = ["GET /api", "GET /api/settings", `PUT ${path}`, `PATCH ${path}/1`, `GET ${path}/1/enable`];
    for (const line of [...lines, `POST ${path}/1/replay/2/3`, `GET ${path}/`, "GET /nowhere", "POST /openapi.json"]) {
      const answer = await hub.request(line, { headers: { "content-type": "application/json" } });
      expect(refused(answer, notFound)).toContain(line.split(" ")[1]);
    }
    const called = refused(await hub.request("POST /api/datasets/me/data/sql-console/main", { body: {} }), notFound);
    expect(called).toMatch(/^The local Hub has no POST \/api\/datasets.*openapi\.json.*new HubClient\(\{ fetch \}\)/);
    expect(refused(await hub.request("GET /api/nowhere", { token: null }), unauthorized)).toContain("hf_local");
  });
});

const job = { flavor: "cpu-basic" };
const { url: _url, ...withoutTarget } = valid;

describe("An invalid request body", () => {
  test("returns 400 with the invalid fields, and changes nothing", async () => {
    const hub = await openLocalHub();
    const made = await hub.create({ url: "http://127.0.0.1:1/" });
    const invalid: [field: string, body: unknown][] = [
      ["watched[1].name", { ...valid, watched: [data, { type: "dataset", name: 5 }] }],
      ["domains[1]", { ...valid, domains: ["repo", "papers"] }],
      ["url", { ...valid, job }],
      ['job.environment["1A"]', { ...withoutTarget, job: { ...job, environment: { "1A": "x" } } }],
      ['job.labels["a b"]', { ...withoutTarget, job: { ...job, labels: { "a b": "" } } }],
      ["body", []],
      ["body", null],
    ];
    for (const [field, body] of invalid) {
      for (const line of [`POST ${path}`, `POST ${path}/${made.id}`]) {
        expect(refused(await hub.request(line, { body }), badRequest).split("; ")).toContainEqual(says(field));
      }
    }
    // A new webhook needs a target.
    expect(refused(await hub.request(`POST ${path}`, { body: withoutTarget }), badRequest)).toEqual(says("url"));
    expect((await hub.request(`GET ${path}`)).body).toEqual([made]);
  });

  test("does not result from unknown fields, which are ignored", async () => {
    const hub = await openLocalHub();
    const other = { id: unknownId, disabled: true, hasSecret: true, unknown: { deep: [1] } };
    const watched = [{ ...data, id: "1", avatarUrl: "/a.svg" }];
    const made = await hub.create({ ...other, url: "http://127.0.0.1:1/", watched });
    expect(made).toEqual({
      id: expect.not.stringMatching(unknownId),
      watched: [data],
      domains: ["repo", "discussion"],
      url: "http://127.0.0.1:1/",
      disabled: false,
    });
    const withJob = await hub.update(made.id, { job: { ...job, timeout: 5, gpu: "x" } });
    expect(withJob.job).toEqual({ ...job, environment: {}, timeoutSeconds: null });
  });

  test("returns 400 if it is not JSON", async () => {
    for (const text of ["", "{", "{}}", '{"a":undefined}', "watched=1", "\u0000"]) {
      const answer = await hub.request(`POST ${path}`, { text, headers: { "content-type": "application/json" } });
      expect(refused(answer, badRequest), text).toMatch(/JSON|body/i);
    }
  });

  test("returns 415 if it is sent with another media type, and JSON can be spelled in any case", async () => {
    const hub = await openLocalHub();
    const types = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json"];
    for (const type of types) {
      for (const line of [`POST ${path}`, `POST ${path}/${unknownId}`]) {
        const answer = await hub.request(line, { text: JSON.stringify(valid), headers: { "content-type": type } });
        expect(refused(answer, { status: 415, code: "UnsupportedMediaType" }), type).toContain("application/json");
      }
    }
    for (const type of ["application/json; charset=utf-8", "Application/JSON"]) {
      const text = JSON.stringify(valid);
      expect((await hub.request(`POST ${path}`, { text, headers: { "content-type": type } })).status, type).toBe(200);
    }
  });

  test("returns 400 with the first few of many invalid fields, and without their values", async () => {
    const hub = await openLocalHub();
    const watched = Array.from({ length: 1_000 }, () => ({ type: secret, name: 5 }));
    const answer = await hub.request(`POST ${path}`, {
      body: { ...valid, watched, secret: `${secret}é`, url: secret },
    });
    const said = refused(answer, badRequest);
    expect(said.length).toBeLessThan(2_000);
    expect(`${answer.text}${hub.log.text()}`).not.toContain(secret);
  });

  test("with control characters in a field name does not change the response headers", async () => {
    const environment = { "a\r\nx-evil: 1\u2028é": "1" };
    const answer = await hub.request(`POST ${path}`, { body: { ...withoutTarget, job: { ...job, environment } } });
    expect(answer.status).toBe(400);
    expect(answer.headers.has("x-evil")).toBe(false);
    expect(answer.headers.get("x-error-message")).toMatch(/^[ -~]+$/);
  });

  test.each([
    { what: "with a Content-Length", headers: { "Content-Length": String(11 * 1024 * 1024) }, body: "" },
    { what: "in chunks", headers: { "Transfer-Encoding": "chunked" }, body: "x".repeat(11 * 1024 * 1024) },
  ])("returns 413 if it is too long, sent $what", async ({ headers, body }) => {
    const hub = await openLocalHub();
    const socket = await RawSocket.open(hub.url);
    const sent = { Host: new URL(hub.url).host, Authorization: "Bearer hf_local", "Content-Type": "application/json" };
    socket.send(requestBytes({ path, headers: { ...sent, ...headers } }));
    if (body !== "") socket.send(`${body.length.toString(16)}\r\n`, body, "\r\n0\r\n\r\n");
    const answer = await socket.answer();
    socket.close();
    const whole = { ...answer, body: JSON.parse(answer.text) };
    expect(refused(whole, { status: 413, code: "PayloadTooLarge" })).toContain("bytes");
    expect((await hub.request(`GET ${path}`)).status).toBe(200);
  });
});

/** Matches one problem of the field. */
function says(field: string) {
  const escaped = field.replace(/[[\]."]/g, "\\$&");
  return expect.stringMatching(new RegExp(`^${escaped}: .+`));
}
