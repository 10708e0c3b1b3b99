import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import type { Operation } from "../../../src/hub/operation.ts";
import { repeatable } from "../../../src/hub/schemas.ts";
import { type OperationInput, prepareRequest } from "../../../src/hub/transport/request.ts";

const download = {
  method: "get",
  path: "/{repo}/resolve/{rev}/{path}",
  operationId: "download",
  summary: "Download a file",
  request: {
    params: z.object({ repo: z.string(), rev: z.string(), path: z.string() }),
    query: z.object({ expand: repeatable() }),
  },
  response: z.unknown(),
} as const satisfies Operation;

/** Returns the URL of a request without the origin. */
async function urlOf(input: OperationInput): Promise<string> {
  const { url } = await prepareRequest(download, {
    ...{ hubUrl: "", input, skipBodyValidation: false, query: undefined, encodedBody: undefined },
    readToken: async () => "hf_local",
  });
  return url;
}

describe("The URL of a request", () => {
  test("keeps the slashes of a file's path, and encodes those of other parameters", async () => {
    const params = { repo: "a/b", rev: "refs/pr/1", path: "data/x y#?.txt" };
    expect(await urlOf({ params })).toBe("/a%2Fb/resolve/refs%2Fpr%2F1/data/x%20y%23%3F.txt");
  });

  test("ends before an empty path, which is the root folder", async () => {
    expect(await urlOf({ params: { repo: "a", rev: "main", path: "" } })).toBe("/a/resolve/main");
  });

  test.each(["..", "a/../b", "a//b", "/a", "a/", "./a", "a/\ud800"])(
    "is not created for a path that names another resource: %j",
    async (path) => {
      await expect(urlOf({ params: { repo: "a", rev: "main", path } })).rejects.toMatchObject({
        ...{ code: "ARGUMENT_INVALID", fields: ["path"] },
      });
    },
  );

  test("repeats a query parameter with several values", async () => {
    const params = { repo: "a", rev: "b", path: "c" };
    expect(await urlOf({ params, query: { expand: ["sha", "tags"] } })).toBe("/a/resolve/b/c?expand=sha&expand=tags");
  });
});
