import { describe, expect, test } from "vitest";
import { formatQuery, formatRoute, parseQuery, parseRoute } from "../../../../src/console/app/state.ts";

describe("parseRoute", () => {
  test("reads the path and the query of a hash", () => {
    expect(parseRoute("#/deliveries/one?endpoint=retrain&id=a%20b")).toEqual({
      path: "deliveries/one",
      query: { endpoint: "retrain", id: "a b" },
    });
  });

  test.each(["", "#", "#/", "#///"])("reads %j as the start page", (hash) => {
    expect(parseRoute(hash)).toEqual({ path: "", query: {} });
  });

  test("ignores a slash at the end and empty values", () => {
    expect(parseRoute("#/endpoints/?a=")).toEqual({ path: "endpoints", query: {} });
  });
});

describe("formatRoute", () => {
  test("leaves out values that are missing or empty", () => {
    expect(formatRoute("deliveries", { status: "", endpoint: undefined })).toBe("#/deliveries");
  });

  test("keeps slashes, colons, and commas legible", () => {
    expect(formatRoute("deliveries", { status: "dead,failed", repository: "dataset:acme/data" })).toBe(
      "#/deliveries?status=dead,failed&repository=dataset:acme/data",
    );
  });

  test("writes what parseRoute reads", () => {
    const query = { id: "a&b=c#d?e%f g+h", list: formatQuery({ status: "dead", search: "x&y=1" }) };
    const { path, query: read } = parseRoute(formatRoute("deliveries/one", query));
    expect({ path, query: read }).toEqual({ path: "deliveries/one", query });
    expect(parseQuery(read.list ?? "")).toEqual({ status: "dead", search: "x&y=1" });
  });
});
