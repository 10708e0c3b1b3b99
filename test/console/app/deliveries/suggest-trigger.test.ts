import { expect, test } from "vitest";
import { suggestTrigger } from "../../../../src/console/app/deliveries/deliveries-view.tsx";

const endpoint = { url: "http://127.0.0.1:7860/webhooks/retrain", repos: ["dataset:acme/*"], watch: [] };

test("sends directly to an endpoint of a receiver", () => {
  expect(suggestTrigger([endpoint], "receiver")).toBe(
    "npx hub-webhooks trigger dataset:me/data --url http://127.0.0.1:7860/webhooks/retrain",
  );
});

test("sends to the local Hub of a dev session, for a repository that is watched", () => {
  expect(suggestTrigger([{ ...endpoint, watch: ["org:acme", "model:acme/net"] }], "dev")).toBe(
    "npx hub-webhooks trigger model:acme/net",
  );
  expect(suggestTrigger([], "dev")).toBe("npx hub-webhooks trigger dataset:me/data");
});
