import { expect, test } from "vitest";
import { bodyOf, toJobData } from "../../../src/inbox/bullmq/stored-job.ts";
import { incoming } from "../engine.ts";

test.each(["{}", "Grüße 🪝", "\u0000", "\ud83d", "\udf32\ud83d", ""])("A job stores the body %j unchanged", (body) => {
  expect(bodyOf(toJobData(incoming("a", { body })))).toBe(body);
});

test.each(["\u0000", "\ud83d", "\udf32\ud83d"])("A job encodes the body %j, which jsonb cannot store", (body) => {
  expect(JSON.stringify(toJobData(incoming("a", { body })))).toMatch(/^[\w{}:=",+/]*$/);
});
