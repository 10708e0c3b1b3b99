import { describe, expect, test } from "vitest";
import { fieldProblems } from "../../../src/hub/validation/field-problems.ts";
import { webhook, webhookRequest } from "../../../src/hub/webhooks/schemas.ts";
import { namedFields, readBodies } from "./bounds.ts";
import { requestCases, webhookCases } from "./webhook-cases.ts";

describe("A request to create or update a webhook", () => {
  test.each(readBodies("webhook-requests"))("with %s is accepted", (_, body) => {
    const defaults = { environment: {}, timeoutSeconds: null, attempts: 1 };
    const job = body.job instanceof Object ? { job: { ...defaults, ...body.job } } : {};
    expect(webhookRequest.parse(body)).toEqual({ ...body, ...job });
  });

  test.each(requestCases.accepted)("is accepted: $title", ({ body }) => {
    const result = webhookRequest.safeParse(body);
    expect(result.error).toBeUndefined();
    expect(result.data).toMatchObject(body instanceof Object ? body : {});
  });

  test.each(requestCases.refused)("is rejected: $title", ({ body, names }) => {
    const { error } = webhookRequest.safeParse(body);
    expect(error && namedFields(error)).toEqual([names]);
  });

  test.each(requestCases.ignored)("is accepted without its unknown parts: $title", ({ body, left }) => {
    expect(webhookRequest.parse(body)).toEqual(webhookRequest.parse(left));
  });

  test("is rejected with every invalid field, not only the first", () => {
    const body = { watched: [{ type: "repo", name: "" }], domains: [], job: { flavor: "x", attempts: 0 } };
    const { error } = webhookRequest.safeParse(body);
    expect(error && namedFields(error)).toEqual([
      "watched[0].type",
      "watched[0].name",
      "domains",
      "job.flavor",
      "job.attempts",
    ]);
  });

  test("is rejected with the rule for the names of a map", () => {
    const maps = { environment: { A: "x" }, secrets: { _: "x" }, labels: { "": "x" } };
    const body = { watched: [{ type: "model", name: "a/b" }], domains: ["repo"], job: { flavor: "h200", ...maps } };
    const { error } = webhookRequest.safeParse(body);
    expect(error && fieldProblems(error, { name: "body" })).toEqual([
      {
        field: "job.environment.A",
        problem: "expected at least two characters: a letter, then letters, digits, or _",
      },
      { field: "job.secrets._", problem: "expected a letter, then letters, digits, or _" },
      { field: 'job.labels[""]', problem: "expected 1 to 100 letters, digits, dots, _, or -" },
    ]);
  });

  test("keeps a secret and a URL unchanged", () => {
    const given = { url: "HTTP://Example.COM:80/a/../b?", secret: "  edges \u007f" };
    const body = { watched: [{ type: "model", name: "a/b" }], domains: ["repo"], ...given };
    expect(webhookRequest.parse(body)).toEqual(body);
  });
});

describe("A webhook in a response", () => {
  test.each(readBodies("webhooks"))("with %s is accepted", (_, body) => {
    expect(webhook.parse(body)).toEqual(body);
  });

  test.each(webhookCases.accepted)("is accepted: $title", ({ body }) => {
    const result = webhook.safeParse(body);
    expect(result.error).toBeUndefined();
    expect(result.data).toEqual(body);
  });

  test.each(webhookCases.refused)("is rejected: $title", ({ body, names }) => {
    const { error } = webhook.safeParse(body);
    expect(error && namedFields(error)).toEqual([names]);
  });

  test("always has environment and timeoutSeconds of its job after parsing", () => {
    const answered = {
      id: "0123456789abcdef01234567",
      disabled: false,
      watched: [],
      domains: [],
      job: { flavor: "cpu-basic" },
    };
    expect(webhook.parse(answered).job).toEqual({ flavor: "cpu-basic", environment: {}, timeoutSeconds: null });
  });
});
