import { expect, test, vi } from "vitest";
import { readTunnelSetting } from "../../../src/receiver/node/start-server.ts";

test.each([
  ["", false],
  ["0", false],
  ["false", false],
  ["1", true],
  ["true", true],
  ["localtunnel", { provider: "localtunnel" }],
  ["cloudflared", { provider: "cloudflared" }],
  ["ngrok", { provider: "ngrok" }],
])("TUNNEL=%s is parsed as %j", (value, setting) => {
  vi.stubEnv("TUNNEL", value);

  expect(readTunnelSetting()).toEqual(setting);
});

test("There is no tunnel without TUNNEL", () => {
  vi.stubEnv("TUNNEL", undefined);

  expect(readTunnelSetting()).toBe(false);
});

test.each(["yes", "cloudflare", "https://me:planted@hooks.example.com"])("TUNNEL=%s is rejected", (value) => {
  vi.stubEnv("TUNNEL", value);

  expect(() => readTunnelSetting()).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  expect(() => readTunnelSetting()).not.toThrow(/planted/);
});
