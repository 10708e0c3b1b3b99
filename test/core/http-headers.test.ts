import { expect, test } from "vitest";
import { wantsHtml } from "../../src/core/urls.ts";

const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

test.each([
  ["of a browser", { method: "GET", accept }, true],
  ["of a browser that only requests the headers", { method: "HEAD", accept }, true],
  ["of the Hub", { method: "POST", accept }, false],
  ["of curl", { method: "GET", accept: "*/*" }, false],
  ["that accepts JSON", { method: "GET", accept: "application/json" }, false],
  ["that does not say", { method: "GET", accept: undefined }, false],
])("wantsHtml() %s: %j", (_who, request, isWanted) => {
  expect(wantsHtml(request)).toBe(isWanted);
});
