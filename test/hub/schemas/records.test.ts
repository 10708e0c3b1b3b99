import { describe, expect, test } from "vitest";
import { hardwareFlavors } from "../../../src/hub/jobs/definition.ts";
import { job } from "../../../src/hub/jobs/schemas.ts";
import { repoRef } from "../../../src/hub/schemas.ts";
import { casesOf, namedFields, readBodies } from "./bounds.ts";
import { addedFlavors, flavors } from "./job-bounds.ts";
import { jobBounds, repoIdBounds } from "./record-bounds.ts";

const account = { id: "0123456789abcdef01234567", name: "acme" };
const record = {
  id: "job-1",
  createdAt: "2026-09-01T12:34:56Z",
  owner: account,
  environment: {},
  flavor: "cpu-basic",
  status: { stage: "RUNNING", message: null },
  createdBy: account,
};

test("The list contains the 25 hardware flavors of the specification, in its order, and the 4 later ones", () => {
  expect(hardwareFlavors).toEqual([...flavors, ...addedFlavors]);
  expect(new Set(flavors).size).toBe(25);
});

describe("The record of a started job", () => {
  test.each(readBodies("jobs"))("with %s is accepted", (_, body) => {
    expect(job.parse(body)).toEqual(body);
  });

  const { accepted, refused } = casesOf({ bounds: jobBounds, body: record });

  test.each(accepted)("is accepted: $title", ({ body }) => {
    const result = job.safeParse(body);
    expect(result.error).toBeUndefined();
    expect(result.data).toEqual(body);
  });

  test.each(refused)("is rejected: $title", ({ body, names }) => {
    const { error } = job.safeParse(body);
    expect(error && namedFields(error)).toEqual([names]);
  });
});

describe("A repository by name and type", () => {
  const { accepted, refused } = casesOf({ bounds: repoIdBounds, body: { type: "model", name: "acme/model" } });

  test.each(accepted)("is accepted: $title", ({ body }) => {
    expect(repoRef.parse(body)).toEqual(body);
  });

  test.each(refused)("is rejected: $title", ({ body, names }) => {
    const { error } = repoRef.safeParse(body);
    expect(error && namedFields(error)).toEqual([names]);
  });
});
