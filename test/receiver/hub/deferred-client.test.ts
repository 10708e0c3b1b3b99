import { describe, expect, test } from "vitest";
import { HubClient } from "../../../src/client.ts";
import { createDeferredClient } from "../../../src/receiver/hub.ts";

const members = ["ada", "bob", "cleo"].map((user) => {
  return { _id: "6".repeat(24), user, fullname: user, avatarUrl: "/a.svg", isPro: false, type: "user" };
});

/** Creates a deferred client whose client answers each request with the same value. */
function defer(answer: unknown = {}) {
  const requests: string[] = [];
  const loads: HubClient[] = [];
  const real = new HubClient({
    hubUrl: "http://hub.test",
    token: "hf_local",
    fetch: async (input, init) => {
      requests.push(`${init?.method ?? "GET"} ${new URL(String(input)).pathname}`);
      return Response.json(answer);
    },
  });
  const client = createDeferredClient({
    load: async () => {
      loads.push(real);
      return real;
    },
    hubUrl: () => "http://hub.test",
  });
  return { client, loads, requests };
}

describe("A deferred client", () => {
  test("loads nothing before one of its methods is called", async () => {
    const { client, loads } = defer();
    const { hubUrl, jobs, whoami } = client;
    expect(await client).toBe(client);
    expect([hubUrl, typeof jobs.hardware, typeof whoami, loads]).toEqual([
      "http://hub.test",
      "function",
      "function",
      [],
    ]);
  });

  test("calls methods of the client, also with a detached method", async () => {
    const { client, requests } = defer({ any: "answer" });
    const response = await client.fetch("/api/any/thing", { method: "POST" });
    expect(await response.json()).toEqual({ any: "answer" });
    const { fetch } = client;
    await fetch("/api/other");
    expect(requests).toEqual(["POST /api/any/thing", "GET /api/other"]);
  });

  test("calls methods of resources, and of resources in them", async () => {
    const { client, requests } = defer([]);
    expect(await client.jobs.hardware()).toEqual([]);
    await client.organizations.resourceGroups.list("acme");
    expect(requests).toEqual(["GET /api/jobs/hardware", "GET /api/organizations/acme/resource-groups"]);
  });

  test("sends a request although nothing waits for its result", async () => {
    const { client, requests } = defer([]);
    void client.jobs.hardware();
    await expect.poll(() => requests).toEqual(["GET /api/jobs/hardware"]);
  });

  test("iterates over lists, by item and by page", async () => {
    const { client } = defer(members);
    const items = [];
    for await (const { user } of client.organizations.members("acme")) items.push(user);
    const pages = [];
    for await (const page of client.organizations.members("acme").pages()) pages.push(page.length);
    expect([items, pages]).toEqual([["ada", "bob", "cleo"], [3]]);
  });

  test("rejects with the errors of the client, and with the error of a failed load", async () => {
    const { client } = defer();
    await expect(client.fetch("no-slash")).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    const broken = createDeferredClient({
      load: async () => {
        throw new Error("It does not load.");
      },
      hubUrl: () => "http://hub.test",
    });
    await expect(broken.whoami()).rejects.toThrow("It does not load.");
    await expect(broken.organizations.members("acme").pages().next()).rejects.toThrow("It does not load.");
  });

  test("rejects calls of methods that the client does not have", async () => {
    const { client } = defer();
    const call: unknown = Reflect.get(client, "who");
    await expect(typeof call === "function" ? call() : undefined).rejects.toThrow('has no method "who"');
  });
});
