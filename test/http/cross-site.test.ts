import { expect, test } from "vitest";
import { isCrossSite } from "../../src/http/answer.ts";

const own = "https://hook.example";

/** Whether a request with these headers, whose `Host` a proxy may have replaced, comes from another site. */
function check(headers: Record<string, string>): boolean {
  const sent = new Headers({ host: "hook.example", ...headers });
  return isCrossSite({ url: `${own}/webhooks/retrain`, header: (name) => sent.get(name) });
}

test.for([
  ["no browser", {}, false],
  ["the own page", { "sec-fetch-site": "same-origin", origin: own }, false],
  [
    "the own page behind a proxy that replaces the host",
    { "sec-fetch-site": "same-origin", origin: own, host: "127.0.0.1:7860" },
    false,
  ],
  ["a page of another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }, true],
  ["a page of a sibling host", { "sec-fetch-site": "same-site", origin: "https://evil.hook.example" }, true],
  ["the address bar", { "sec-fetch-site": "none" }, true],
  ["a page of another site in an old browser", { origin: "https://evil.example" }, true],
  ["a page without an origin in an old browser", { origin: "null" }, true],
  ["the own page in an old browser", { origin: own }, false],
] as const)("A request of %s is cross-site: %s", ([, headers, expected]) => {
  expect(check(headers)).toBe(expected);
});
