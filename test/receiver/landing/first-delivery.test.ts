import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { scopes } from "../../../src/payload/names.ts";
import { parsePayload } from "../../../src/payload/parse.ts";
import { firstDeliveryCommand } from "../../../src/receiver/landing/steps.ts";
import { hostileTexts, sampleEndpoint, sampleInfo } from "./sample-info.ts";

const url = "https://acme-bot.hf.space/webhooks/trigger_training";

describe("The command for a first delivery", () => {
  test("posts JSON to the first endpoint, with the secret from the environment of the shell", () => {
    const endpoints = [sampleEndpoint({ url }), sampleEndpoint({ name: "second" })];
    const [address, ...options] = runInShell(firstDeliveryCommand(sampleInfo({ endpoints, secretIsSet: true })));
    expect(address).toBe(url);
    expect(options).toEqual([
      "--header",
      "Content-Type: application/json",
      "--header",
      "X-Webhook-Secret: from the shell",
      "--data",
      expect.stringMatching(/^\{/),
    ]);
  });

  test("sends no secret header if the server has no secret", () => {
    expect(firstDeliveryCommand(sampleInfo({ secretIsSet: false }))).not.toContain("X-Webhook-Secret");
  });

  test.each(scopes)("sends a payload of version 3 that an endpoint for “%s” accepts", (scope) => {
    const endpoints = [sampleEndpoint({ scopes: [scope] })];
    const words = runInShell(firstDeliveryCommand(sampleInfo({ endpoints })));
    const payload = parsePayload(JSON.parse(words.at(-1) ?? ""));
    expect(payload.event.scope).toBe(scope);
    expect(payload.webhook.version).toBe(3);
  });

  test("sends a push to an endpoint with unknown scopes", () => {
    const endpoints = [sampleEndpoint({ scopes: ["repo.future"] })];
    expect(firstDeliveryCommand(sampleInfo({ endpoints }))).toContain(`"scope": "repo.content"`);
  });

  test.each([...hostileTexts, "'; echo pwned; '", "$(echo pwned)", "`echo pwned`", "a\\"])(
    "quotes the URL “%s” as a single shell argument",
    (host) => {
      const hostile = `http://${host}/webhooks/x`;
      expect(runInShell(firstDeliveryCommand(sampleInfo({ endpoints: [sampleEndpoint({ url: hostile })] })))[0]).toBe(
        hostile,
      );
    },
  );

  test("is missing without an endpoint", () => {
    expect(firstDeliveryCommand(sampleInfo({ endpoints: [] }))).toBeUndefined();
  });
});

/** Returns the arguments that a real shell passes to `curl`. */
function runInShell(command = ""): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
  const env = { WEBHOOK_SECRET: "from the shell" };
  return execFileSync("/bin/sh", ["-c", script], { encoding: "utf8", env }).split("\0").slice(0, -1);
}
