import { expect, test } from "vitest";
import { HubClient } from "../../src/client.ts";
import { RemoteSpace } from "../../src/deploy/remote-space.ts";
import { startSpace } from "../../src/deploy/start-space.ts";
import { RemoteServer } from "../../src/receiver/checks/remote-server.ts";

test("Answers of the Hub that are no JSON or break off have error codes", async () => {
  const cut = new ReadableStream({ pull: (controller) => controller.error(new TypeError("terminated")) });
  const answers = [new Response("<html>"), new Response(cut)];
  const send: typeof fetch = async () => answers.shift() ?? new Response("{}");
  const remote = new RemoteSpace(new HubClient({ token: "hf_local", fetch: send }), "me/bot", { signal: undefined });
  await expect(remote.runtime()).rejects.toMatchObject({ code: "HUB_RESPONSE_INVALID" });
  await expect(remote.runtime()).rejects.toMatchObject({ code: "HUB_UNREACHABLE", retryable: true });
});

test("The state of the earlier version, which the Hub can still report after a commit, does not end the wait", async () => {
  const stages = ["BUILD_ERROR", "BUILD_ERROR", "BUILDING", "BUILD_ERROR", "SLEEPING", "A_NEW_STAGE", "RUNNING"];
  const send: typeof fetch = async (input) => {
    const { pathname } = new URL(String(input));
    if (pathname.includes("/logs/")) return new Response("");
    if (!pathname.endsWith("/runtime")) return Response.json({ private: false, host: "https://bot.example" });
    const stage = stages.shift() ?? "RUNNING";
    const sha = stage === "RUNNING" || stage === "BUILD_ERROR" ? "new" : "old";
    return Response.json({ stage, sha, hardware: { current: null } });
  };
  const remote = new RemoteSpace(new HubClient({ token: "hf_local", fetch: send }), "me/bot", { signal: undefined });
  const { signal } = new AbortController();
  const fetchReady = async () => Response.json({ status: "ok" });
  const serverAt = (url: string) => new RemoteServer({ url, fetch: fetchReady });
  const clock = { now: () => 0, sleep: async () => {} };
  const steps = startSpace({ space: remote, commit: "new", serverAt, signal, clock });
  for await (const _event of steps);
  expect(stages).toEqual([]);
});
