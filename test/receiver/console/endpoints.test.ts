import { createServer } from "node:http";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { HubClient } from "../../../src/client.ts";
import type { ActivityWindow, EndpointList } from "../../../src/console/protocol/deliveries.ts";
import { ConsoleEvents } from "../../../src/console/server/events.ts";
import { LocalHub, type LocalHubOptions } from "../../../src/local-hub.ts";
import { activityHistory } from "../../../src/receiver/console/endpoints.ts";
import { Activity, EndpointActivity } from "../../../src/receiver/counts.ts";
import { probeAgent } from "../../../src/receiver/request.ts";
import { deliveryRequest } from "../../../src/testing.ts";
import { codeOf } from "../../console/server/open-test-console.ts";
import { listen } from "../../support/listen.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { openReceiverConsole, payloadOf, secret, startedAt } from "./open-receiver-console.ts";

const minute = 60_000;
const none = { deliveries: 0, failures: 0, attempts: 0, failedAttempts: 0 };

describe("An endpoint", () => {
  test("is described with its filter, before its first delivery", async () => {
    const { endpoints, client } = await openReceiverConsole((server) => {
      server.webhook("inline", { repo: "dataset:acme/*", scope: "repo.content" }, () => {});
      const filter = { action: "update", ref: "refs/heads/main", paths: ["data/**", "README.md"] } as const;
      server.webhook("background", { background: true, watch: "org:acme", ...filter, ignoreSelf: true }, () => {});
    });
    const { inline, background } = await endpoints();
    expect(inline).toEqual({
      ...{ name: "inline", url: "/webhooks/inline", background: false, secret: "set", isPaused: false },
      ...{ scopes: ["repo.content"], repos: ["dataset:acme/*"], watch: expect.any(Array) },
      ...{ actions: [], refs: [], paths: [], ignoreSelf: false },
      registration: expect.objectContaining({ state: "unknown" }),
      activity: { "15m": Array(15).fill(none), "1h": Array(12).fill(none), "24h": Array(24).fill(none) },
      today: { deliveries: 0, limit: 1_000 },
    });
    expect(background).toMatchObject({
      background: true,
      watch: ["org:acme"],
      ...{ actions: ["update"], refs: ["refs/heads/main"], paths: ["data/**", "README.md"], ignoreSelf: true },
      queue: { queued: 0, running: 0, dead: 0 },
    });
    expect(await client.read("endpoints")).toMatchObject({ startedAt });
  });

  test("shows whether a secret is set", async () => {
    const { endpoints } = await openReceiverConsole((server) => server.webhook("open", () => {}), { secret: false });
    expect(await endpoints()).toMatchObject({ open: { secret: "missing" } });
  });

  test("counts deliveries, attempts, and failures in each window", async () => {
    let isFailing = true;
    const { endpoints, deliver, clock, untilStatus } = await openReceiverConsole((server) => {
      const run = () => {
        if (isFailing) throw new Error("no");
      };
      server.webhook("inline", run);
      server.webhook("retried", { background: true, attempts: 2, backoff: { first: "1h", max: "1h" } }, run);
    });
    await deliver("inline", "a");
    await deliver("retried", "b");
    await untilStatus("retried", "b", "retrying");
    clock.now += 6 * minute;
    isFailing = false;
    await deliver("inline", "c");
    await deliver("inline", "d");
    const { inline, retried } = await endpoints();
    const at = (bars: readonly unknown[] | undefined, fromEnd: number) => bars?.at(-1 - fromEnd);
    const failed = { deliveries: 1, failures: 1, attempts: 1, failedAttempts: 1 };
    const twice = { deliveries: 2, failures: 0, attempts: 2, failedAttempts: 0 };
    expect([at(inline?.activity["15m"], 6), at(inline?.activity["15m"], 0)]).toEqual([failed, twice]);
    expect([at(inline?.activity["1h"], 1), at(inline?.activity["1h"], 0)]).toEqual([failed, twice]);
    expect(at(inline?.activity["24h"], 0)).toEqual({ deliveries: 3, failures: 1, attempts: 3, failedAttempts: 1 });
    // A delivery that is retried has not failed yet.
    expect(at(retried?.activity["15m"], 6)).toEqual({ ...none, deliveries: 1, attempts: 1, failedAttempts: 1 });
    expect(inline?.today).toEqual({ deliveries: 3, limit: 1_000 });
    expect(inline?.last).toEqual({ status: "succeeded", at: startedAt + 6 * minute });
    expect(inline?.handlerTime).toEqual({ p50: expect.any(Number), p95: expect.any(Number), runs: 3 });
    expect(inline?.handlerTime?.p95).toBeGreaterThanOrEqual(inline?.handlerTime?.p50 ?? Number.NaN);

    clock.now += 15 * minute;
    expect((await endpoints()).inline?.activity["15m"]).toEqual(Array(15).fill(none));
    clock.now += 24 * 60 * minute;
    const later = (await endpoints()).inline;
    expect([later?.activity["24h"], later?.today.deliveries]).toEqual([Array(24).fill(none), 0]);
  });

  test("counts a delivery that the Hub sends again as another attempt", async () => {
    let isFailing = true;
    const { endpoints, deliver } = await openReceiverConsole((server) => {
      const run = () => {
        if (isFailing) throw new Error("no");
      };
      server.webhook("inline", run);
      server.webhook("other", run);
    });
    for (let attempt = 0; attempt < 3; attempt += 1) await deliver("inline", "a");
    isFailing = false;
    await deliver("inline", "a");
    await deliver("inline", "b");
    // The same ID at another endpoint is another delivery.
    await deliver("other", "a");
    const { inline, other } = await endpoints();
    const counts = { deliveries: 2, failures: 1, attempts: 5, failedAttempts: 3 };
    expect(inline?.activity["15m"].at(-1)).toEqual(counts);
    expect([inline?.today.deliveries, other?.today.deliveries]).toEqual([2, 1]);
  });

  test("shows the depth of its queue", async () => {
    const gate = Promise.withResolvers<void>();
    const { endpoints, deliver, untilStatus } = await openReceiverConsole((server) => {
      server.webhook("waits", { background: true, concurrency: 1 }, () => gate.promise);
      server.webhook("dies", { background: true, attempts: 1 }, () => {
        throw new Error("no");
      });
      server.webhook("inline", () => {});
    });
    onTestFinished(() => gate.resolve());
    for (const id of ["a", "b", "c"]) await deliver("waits", id);
    await deliver("dies", "d");
    await untilStatus("waits", "a", "running");
    await untilStatus("dies", "d", "dead");
    const { waits, dies, inline } = await endpoints();
    expect([waits?.queue, dies?.queue, inline?.queue]).toEqual([
      { queued: 2, running: 1, dead: 0 },
      { queued: 0, running: 0, dead: 1 },
      undefined,
    ]);
  });
});

describe("Pausing an endpoint", () => {
  test("keeps its deliveries queued until it is resumed", async () => {
    const { endpoints, client, deliver, untilStatus } = await openReceiverConsole((server) => {
      server.webhook("one", { background: true }, () => {});
      server.webhook("two", { background: true }, () => {});
    });
    const change = (action: string) => client.change(`endpoints/${action}`, { endpoint: "one" });
    expect(await change("pause")).toEqual({ status: 200, body: {} });
    expect(await endpoints()).toMatchObject({ one: { isPaused: true }, two: { isPaused: false } });
    await deliver("one", "a");
    await deliver("two", "b");
    expect(await untilStatus("two", "b", "succeeded")).not.toHaveProperty("isPaused");
    expect(await untilStatus("one", "a", "queued")).toMatchObject({ isPaused: true });
    expect(await change("pause")).toEqual({ status: 200, body: {} });
    expect(await change("resume")).toEqual({ status: 200, body: {} });
    await untilStatus("one", "a", "succeeded");
    expect(await endpoints()).toMatchObject({ one: { isPaused: false } });
    await change("pause");
    expect(await untilStatus("one", "a", "succeeded")).not.toHaveProperty("isPaused");
  });

  test("and resuming it notifies other clients", async () => {
    const { client } = await openReceiverConsole((server) => server.webhook("one", { background: true }, () => {}));
    const reader = (await client.get("stream")).body?.pipeThrough(new TextDecoderStream()).getReader();
    onTestFinished(() => reader?.cancel());
    const read = async () => (await reader?.read())?.value;
    expect(await read()).toBe(": open\n\n");
    for (const action of ["pause", "resume"]) {
      await client.change(`endpoints/${action}`, { endpoint: "one" });
      expect(await read()).toBe('data: {"type":"changed","features":["endpoints","inbox"]}\n\n');
    }
  });

  test.each([
    ["an inline endpoint", "inline", 400, "ARGUMENT_INVALID"],
    ["an unknown endpoint", "none", 404, "ENDPOINT_UNKNOWN"],
    ["a property of objects", "__proto__", 404, "ENDPOINT_UNKNOWN"],
  ])("is refused for %s", async (_what, endpoint, status, code) => {
    const { client } = await openReceiverConsole((server) => {
      server.webhook("inline", () => {});
      server.webhook("background", { background: true }, () => {});
    });
    for (const action of ["pause", "resume"]) {
      expect(await codeOf(await client.post(`endpoints/${action}`, { endpoint }))).toEqual([status, code]);
    }
  });
});

describe("The registration of an endpoint", () => {
  /** Opens a local Hub, and a server that listens and uses it. */
  async function openWithHub(hubOptions: LocalHubOptions = {}) {
    const hub = await LocalHub.launch({ attempts: 1, suspendAfter: 1, ...hubOptions });
    onTestFinished(() => hub.close());
    const own = new HubClient({ hubUrl: hub.url, token: "hf_local" });
    const opened = await openReceiverConsole(
      (server) => {
        server.webhook("works", () => {});
        server.webhook("fails", () => {
          throw new Error("no");
        });
      },
      { hub: { hubUrl: hub.url, token: "hf_local" }, secret: false },
    );
    const { url } = await opened.server.launch({ port: 0, host: "127.0.0.1", handleSignals: false });
    const create = (webhookUrl: string) =>
      own.webhooks.create({ url: webhookUrl, watched: [{ type: "dataset", name: "me/data" }], domains: ["repo"] });
    const registrationOf = async (endpoint: string) => {
      // The state is kept for a minute, so that the console does not use up the rate limit of the account.
      opened.clock.now += minute + 1;
      return (await opened.endpoints())[endpoint]?.registration;
    };
    return { ...opened, hub, own, url, create, registrationOf };
  }

  test("is that of the webhook with the same URL", async () => {
    const { hub, create, own, url, registrationOf, endpoints } = await openWithHub();
    expect((await endpoints()).works?.url).toBe(`${url}/webhooks/works`);
    expect(await registrationOf("works")).toEqual({ state: "missing", message: expect.any(String) });
    const { id } = await create(`${url}/webhooks/works?secret=planted`);
    const identity = {
      ...{ webhookId: id, url: `${url}/webhooks/works?secret=***` },
      settingsUrl: `${hub.url}/settings/webhooks/${id}`,
    };
    expect(await registrationOf("works")).toEqual({ ...identity, state: "enabled" });
    const settings = await fetch(identity.settingsUrl, { redirect: "manual" });
    expect(settings.headers.get("location")).toBe(`/_console/#/webhooks/one?id=${id}`);
    expect(await registrationOf("fails")).toMatchObject({ state: "missing" });
    await own.webhooks.disable(id);
    expect(await registrationOf("works")).toEqual({ ...identity, state: "disabled", message: expect.any(String) });
    await create(`${url}/webhooks/fails`);
    await hub.push({ type: "dataset", name: "me/data" });
    await hub.settled();
    expect(await registrationOf("fails")).toMatchObject({ state: "suspended", message: expect.any(String) });
  });

  test("shows that a webhook delivers to another server", async () => {
    const { create, registrationOf, url } = await openWithHub();
    await create("http://127.0.0.1:9/hub/webhooks/works");
    expect(await registrationOf("works")).toMatchObject({
      ...{ state: "url-differs", url: "http://127.0.0.1:9/hub/webhooks/works" },
      message: expect.stringContaining(`${url}/webhooks/works`),
    });
  });

  test("is read once a minute, and when the clock was set back", async () => {
    const { create, own, url, endpoints, clock } = await openWithHub();
    const state = async () => (await endpoints()).works?.registration?.state;
    expect(await state()).toBe("missing");
    const { id } = await create(`${url}/webhooks/works`);
    clock.now += minute;
    expect(await state()).toBe("missing");
    clock.now += 1;
    expect(await state()).toBe("enabled");
    await own.webhooks.disable(id);
    clock.now -= 1;
    expect(await state()).toBe("disabled");
  });

  test("is unknown without a token, or with one that the Hub refuses", async () => {
    vi.stubEnv("HF_TOKEN", "");
    vi.stubEnv("HUGGING_FACE_HUB_TOKEN", "");
    vi.stubEnv("HF_HOME", createFolder());
    vi.stubEnv("HF_TOKEN_PATH", "");
    const { url: hubUrl } = await listen(createServer((_request, response) => response.writeHead(401).end()));
    for (const hub of [{ hubUrl }, { hubUrl, token: "hf_other" }]) {
      const { endpoints } = await openReceiverConsole((server) => server.webhook("works", () => {}), { hub });
      expect((await endpoints()).works?.registration).toEqual({ state: "unknown", message: expect.any(String) });
    }
  });

  test("of a server whose URL is unknown is found by the path", async () => {
    const hub = await LocalHub.launch();
    onTestFinished(() => hub.close());
    const { endpoints } = await openReceiverConsole((server) => server.webhook("works", () => {}), {
      hub: { hubUrl: hub.url, token: "hf_local" },
    });
    const url = "https://bot.example/hub/webhooks/works";
    await new HubClient({ hubUrl: hub.url, token: "hf_local" }).webhooks.create({
      ...{ url, watched: [{ type: "dataset", name: "me/data" }], domains: ["repo"] },
    });
    expect((await endpoints()).works?.registration).toMatchObject({ state: "enabled", url });
  });
});

test("The row of an endpoint is not affected by other endpoints with a similar name", async () => {
  const { endpoints, deliver } = await openReceiverConsole((server) => {
    for (const name of ["a", "a/b", "constructor"]) server.webhook(name, () => {});
  });
  await deliver("a/b", "d-1", { payload: payloadOf("acme/data") });
  const all = await endpoints();
  expect(Object.entries(all).map(([name, { today }]) => [name, today.deliveries])).toEqual([
    ["a", 0],
    ["a/b", 1],
    ["constructor", 0],
  ]);
});

const hour = 3_600_000;
const start = Date.UTC(2026, 8, 1, 12, 30);

/** Creates an activity whose clock the test sets. */
function begin() {
  const clock = { now: start };
  const endpoint = new EndpointActivity();
  const history = (window: ActivityWindow) => activityHistory(endpoint, { window, now: clock.now });
  return { clock, activity: new Activity(() => clock.now), endpoint, history };
}

test.for([
  ["15m", 15, 60_000],
  ["1h", 12, 300_000],
  ["24h", 24, hour],
] as const)("The activity of an endpoint divides %s into %i parts, oldest first", ([window, length, partMs]) => {
  const { clock, endpoint, history } = begin();
  endpoint.addArrival(clock.now);
  clock.now += (length - 1) * partMs;
  endpoint.addArrival(clock.now);
  const deliveries = () => history(window).map((part) => part.deliveries);
  expect(deliveries()).toEqual([1, ...Array(length - 2).fill(0), 1]);
  clock.now += partMs;
  expect(deliveries()).toEqual([...Array(length - 2).fill(0), 1, 0]);
});

async function openServer() {
  const opened = await openReceiverConsole(
    (server) => {
      server.webhook("inline", () => {});
      server.webhook("background", { background: true }, () => {});
    },
    { bodyLimit: 4_096 },
  );
  const refused = async () => ((await opened.client.read("endpoints")) as EndpointList).refused;
  const refuse = (given: Partial<Parameters<typeof deliveryRequest>[0]>) =>
    opened.server.fetch(deliveryRequest({ endpoint: "inline", secret, payload: payloadOf("acme/data"), ...given }));
  return { ...opened, refused, refuse };
}

const background = { endpoint: "background" };

test.for([
  ["a wrong secret", { secret: "Wrong-5ecret-71" }, "inline", 403, "SECRET_INVALID"],
  ["no secret", { secret: undefined }, "inline", 401, "SECRET_MISSING"],
  ["an invalid payload", { payload: { repo: 7 } }, "inline", 422, "PAYLOAD_INVALID"],
  ["an invalid payload in the background", { ...background, payload: {} }, "background", 422, "PAYLOAD_INVALID"],
  ["a large body", { payload: payloadOf("a".repeat(9_000)) }, "inline", 413, "BODY_TOO_LARGE"],
  ["an unknown endpoint", { endpoint: "retrian" }, "retrian", 404, "ENDPOINT_UNKNOWN"],
] as const)("A delivery with %s is listed with its reason", async ([, request, endpoint, status, code], { expect }) => {
  const { refuse, refused, list } = await openServer();
  expect((await refuse(request)).status).toBe(status);
  expect(await refused()).toEqual([
    { endpoint, status, code, message: expect.any(String), count: 1, lastAt: startedAt },
  ]);
  expect(await list()).toEqual([]);
});

test("Accepted deliveries and requests of browsers are not listed", async () => {
  const { server, deliver, refused } = await openServer();
  await deliver("inline", "a");
  expect((await server.request("/webhooks/inline")).status).toBe(405);
  expect(await refused()).toEqual([]);
});

test.for([
  ["with the secret", {}, 0],
  ["with a wrong secret", { secret: "Wrong-5ecret-71" }, 1],
  ["without a secret", { secret: undefined }, 1],
] as const)(
  "A test delivery %s is listed as refused if it could be of an attacker",
  async ([, request, listed], { expect }) => {
    const { server, refused } = await openServer();
    const delivery = deliveryRequest({ endpoint: "inline", secret, payload: {}, ...request });
    delivery.headers.set("user-agent", probeAgent);
    await server.fetch(delivery);
    expect(await refused()).toHaveLength(listed);
  },
);

test("A server without a secret lists what any client calls a test delivery", async () => {
  const { server, client } = await openReceiverConsole((one) => one.webhook("open", () => {}), { secret: false });
  const delivery = deliveryRequest({ endpoint: "open", payload: {} });
  delivery.headers.set("user-agent", probeAgent);
  await server.fetch(delivery);
  expect((await client.read("endpoints")).refused).toHaveLength(1);
});

test("Deliveries that were refused for the same reason are one entry, and the latest entry is first", async () => {
  const { clock, refuse, refused } = await openServer();
  await refuse({ secret: "Wrong-5ecret-71" });
  await refuse({ endpoint: "one" });
  clock.now += 1_000;
  await refuse({ secret: "Wrong-5ecret-72" });
  expect(await refused()).toMatchObject([
    { code: "SECRET_INVALID", count: 2, lastAt: startedAt + 1_000 },
    { code: "ENDPOINT_UNKNOWN", count: 1 },
  ]);
  await refuse({ endpoint: "two" });
  expect((await refused())[0]).toMatchObject({ endpoint: "two", code: "ENDPOINT_UNKNOWN", count: 2 });
  clock.now += 86_400_000;
  expect(await refused()).toEqual([]);
});

test("A sender can fill neither the memory nor the page, and no entry contains a secret", async () => {
  let sent = 0;
  const echo = (): { issues: { message: string }[] } => {
    sent += 1;
    return { issues: [{ message: `${sent} ${secret.repeat(500)}` }] };
  };
  const { client, deliver } = await openReceiverConsole((server) => {
    server.webhook("strict", { schema: { "~standard": { version: 1, vendor: "test", validate: echo } } }, () => {});
  });
  for (let id = 0; id < 30; id += 1) await deliver("strict", `${id}`);
  await deliver(secret.repeat(100), "unknown");
  const { refused }: EndpointList = await client.read("endpoints");
  expect(refused).toHaveLength(20);
  expect(refused.map(({ endpoint }) => endpoint.length)).toEqual([200, ...Array(19).fill("strict".length)]);
  for (const { message } of refused) expect(message.length).toBeLessThanOrEqual(500);
  expect(JSON.stringify(refused)).not.toContain(secret.slice(0, 6));
});

test("An open page loads the reasons again after a refused delivery", async () => {
  const changed = vi.spyOn(ConsoleEvents.prototype, "changed");
  onTestFinished(() => changed.mockRestore());
  const { refuse, client } = await openServer();
  await client.get("stream");
  await refuse({ secret: "Wrong-5ecret-71" });
  expect(changed).toHaveBeenCalledExactlyOnceWith("endpoints");
});
