import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import type { ConsoleResource } from "../../../src/console/server/api.ts";
import { readBody, readQuery } from "../../../src/console/server/api.ts";
import { codeOf, openTestConsole } from "./open-test-console.ts";

const query = z.object({ name: z.string(), limit: z.optional(z.coerce.number().check(z.maximum(200))) });
const body = z.strictObject({ key: z.strictObject({ id: z.string() }) });
const resource: ConsoleResource = (app) => {
  app.get("/read", (context) => context.json(readQuery(context, query)));
  app.post("/change", async (context) => context.json(await readBody(context, body)));
};

describe("The query of a request", () => {
  test("is parsed with its schema", async () => {
    const client = await openTestConsole({ resources: [resource] }).signIn();
    expect(await client.read("read?name=caf%C3%A9%20x&limit=20&other=1")).toEqual({ name: "café x", limit: 20 });
  });

  test.each([
    ["a missing field", "read", "name:"],
    ["a number that is not one", "read?name=x&limit=abc", "limit:"],
    ["an infinite number", "read?name=x&limit=1e999", "limit:"],
    ["a number over its maximum", "read?name=x&limit=201", "limit:"],
  ])("with %s is a bad request that names the field", async (_what, path, problem) => {
    const client = await openTestConsole({ resources: [resource] }).signIn();
    const response = await client.get(path);
    expect((await response.clone().json()).error).toContain(problem);
    expect(await codeOf(response)).toEqual([400, "ARGUMENT_INVALID"]);
  });
});

describe("The body of a request", () => {
  test("is parsed with its schema", async () => {
    const client = await openTestConsole({ resources: [resource] }).signIn();
    expect(await client.change("change", { key: { id: "1" } })).toEqual({ status: 200, body: { key: { id: "1" } } });
  });

  test.each([
    ["a missing field", "{}", 400, "ARGUMENT_INVALID"],
    ["a field that is not known", '{"key":{"id":"1"},"other":1}', 400, "ARGUMENT_INVALID"],
    ["a value of another type", '{"key":{"id":1}}', 400, "ARGUMENT_INVALID"],
    ["no JSON", "{", 400, "BODY_NOT_JSON"],
    ["nothing", "", 400, "BODY_NOT_JSON"],
    ["null", "null", 400, "ARGUMENT_INVALID"],
    ["a deep value", `{"key":${"[".repeat(20_000)}${"]".repeat(20_000)}}`, 400, "BODY_TOO_DEEP"],
    ["more than 11 MiB", `"${"x".repeat(11 * 1_024 * 1_024)}"`, 413, "BODY_TOO_LARGE"],
  ])("with %s is refused", async (_what, text, status, code) => {
    const { send, signIn } = openTestConsole({ resources: [resource] });
    const { cookie, csrfToken } = await signIn();
    const headers = { cookie, "x-csrf-token": csrfToken, "content-type": "application/json" };
    expect(await codeOf(await send("api/change", { method: "POST", headers, body: text }))).toEqual([status, code]);
  });

  test("names the field with a problem", async () => {
    const client = await openTestConsole({ resources: [resource] }).signIn();
    const { body: answer } = await client.change("change", { key: { id: 7 } });
    expect(answer.error).toContain("key.id:");
  });
});
