import { afterEach, describe, expect, test, vi } from "vitest";
import {
  type EndpointOptions,
  type LandingInfo,
  WebhooksServer,
  type WebhooksServerOptions,
} from "../../../src/index.ts";
import {
  type EndpointDetails,
  interceptLaunches,
  isControllableServer,
  launchInterceptor,
  serverControl,
} from "../../../src/receiver/control.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

function createServer(options: WebhooksServerOptions = {}): WebhooksServer {
  return new WebhooksServer({ logger: createMemoryLogger(), ...options });
}

function detailsOf(options: EndpointOptions): EndpointDetails | undefined {
  const server = createServer();
  server.webhook("retrain", options, () => {});
  return server[serverControl].describe().endpoints[0];
}

describe("The control of a server", () => {
  test("describes the endpoints in the order of their registration", () => {
    const server = createServer();
    server.webhook(
      "second",
      {
        ...{ watch: "dataset:me/data", scope: "repo.config", repo: "dataset:me/*", background: true },
        ...{ action: "update", ref: "refs/heads/main", paths: "data/**", ignoreSelf: true },
      },
      () => {},
    );
    server.webhook("first", () => {});
    expect(server[serverControl].describe().endpoints).toEqual([
      {
        ...{ name: "second", watch: [{ type: "dataset", name: "me/data" }], domains: ["repo"] },
        ...{ scopes: ["repo.config"], repos: ["dataset:me/*"], background: true },
        ...{ actions: ["update"], refs: ["refs/heads/main"], paths: ["data/**"], ignoreSelf: true },
        warnings: expect.any(Array),
      },
      {
        name: "first",
        watch: [],
        domains: ["repo", "discussion"],
        scopes: [],
        repos: [],
        ...{ actions: [], refs: [], paths: [], ignoreSelf: false },
        background: false,
        warnings: [],
      },
    ]);
  });

  test("is found by another copy of the package, by its registered symbol", () => {
    const method = Symbol.for("hub-webhooks.serverControl");
    expect(method in createServer()).toBe(true);
    expect(isControllableServer(createServer())).toBe(true);
    expect([{}, null, "server", { [method]: 1 }].some(isControllableServer)).toBe(false);
  });

  test("describes the first of several secrets", () => {
    expect(createServer({ secret: ["new", "old"] })[serverControl].describe().secret).toBe("new");
    expect(createServer({ secret: false })[serverControl].describe().secret).toBeUndefined();
  });

  test("describes the secret of the environment by default", () => {
    vi.stubEnv("WEBHOOK_SECRET", undefined);
    vi.stubEnv("WEBHOOK_SECRET_PREVIOUS", "former");
    expect(createServer()[serverControl].describe().secret).toBe("former");
    vi.stubEnv("WEBHOOK_SECRET", "present");
    expect(createServer()[serverControl].describe().secret).toBe("present");
  });

  test.each([
    ["replace", [200, 403, 403, 403]],
    ["add", [200, 200, 200, 403]],
  ] as const)("changes the secrets with useSecret(): %s", async (mode, expected) => {
    const server = createServer({ secret: ["first", "second"] });
    server.webhook("retrain", () => {});
    server[serverControl].useSecret("session", mode);
    const statusWith = async (secret: string) =>
      (await server.fetch(deliveryRequest({ endpoint: "retrain", payload: webhookPayload("repo"), secret }))).status;
    expect(await Promise.all(["session", "first", "second", "third"].map(statusWith))).toEqual(expected);
    expect(server[serverControl].describe().secret).toBe("session");
  });
});

test("A registration of some endpoints does not change whether the others are registered", async () => {
  let shown: unknown;
  const landingPage = ({ endpoints }: LandingInfo) => {
    shown = endpoints.map(({ registration }) => registration);
    return "";
  };
  const server = createServer({ landingPage });
  for (const name of ["one", "two", "three"]) server.webhook(name, () => {});
  const { setRegistrations } = server[serverControl];
  setRegistrations(new Map([["one", "registered"] as const, ["two", "missing"] as const]));
  setRegistrations(new Map([["two", "registered"] as const]));
  await server.request("/");
  expect(shown).toEqual(["registered", "registered", "unknown"]);
});

describe("The watch and domains of an endpoint", () => {
  test("accept one item or several, without duplicates", () => {
    expect(detailsOf({ watch: "org:acme" })?.watch).toEqual([{ type: "org", name: "acme" }]);
    expect(detailsOf({ watch: ["user:me", "bucket:me/b", "user:me"] })?.watch).toEqual([
      { type: "user", name: "me" },
      { type: "bucket", name: "me/b" },
    ]);
  });

  test.each<[string, EndpointOptions["domains"]]>([
    ["repo", ["repo"]],
    ["repo.content", ["repo"]],
    ["repo.config.dois", ["repo"]],
    ["discussion", ["discussion"]],
    ["discussion.comment", ["discussion"]],
    ["repository", ["repo", "discussion"]],
    ["collection", ["repo", "discussion"]],
  ])("follows, with scope %s, in its domains", (scope, domains) => {
    expect(detailsOf({ scope })?.domains).toEqual(domains);
  });

  test("default to both domains if the scopes are of both, or one is unknown", () => {
    expect(detailsOf({ scope: ["discussion", "repo.config"] })?.domains).toEqual(["repo", "discussion"]);
    expect(detailsOf({ scope: ["discussion", "paper"] })?.domains).toEqual(["repo", "discussion"]);
    expect(detailsOf({ scope: ["repo", "repo.content"] })?.domains).toEqual(["repo"]);
  });

  test("accept domains in any order, also `discussions`", () => {
    expect(detailsOf({ domains: "discussion" })?.domains).toEqual(["discussion"]);
    expect(detailsOf({ domains: ["discussion", "repo"] })?.domains).toEqual(["repo", "discussion"]);
    expect(detailsOf({ domains: ["repo", "repo"], scope: "repo" })?.domains).toEqual(["repo"]);
    expect(detailsOf(Object({ domains: ["discussions"] }))?.domains).toEqual(["discussion"]);
  });

  test.each<[string, object, string]>([
    ["a mistyped type", { watch: "datset:me/data" }, 'Did you mean "dataset"?'],
    ["no type", { watch: ["org:acme", "me/data"] }, "Use type:name"],
    ["a repository of an organization", { watch: "org:acme/data" }, 'cannot contain "/"'],
    ["nothing", { watch: [] }, 'Option "watch" is empty'],
    ["no text", { watch: { type: "org", name: "acme" } }, "Use type:name"],
    ["a mistyped domain", { domains: ["discusion"] }, 'Did you mean "discussion"?'],
    ["no domain", { domains: [] }, 'Option "domains" is empty'],
    ["a domain without the scope", { scope: "repo.content", domains: ["discussion"] }, "set it to repo."],
  ])("is refused at registration, with what to write, where it is %s", (_what, options, remedy) => {
    expect(() => detailsOf(options)).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message: expect.stringContaining(remedy) }),
    );
  });
});

let stopIntercepting = () => {};
afterEach(() => stopIntercepting());

const launchResult = { port: 7860, url: "http://localhost:7860", publicUrl: "https://quiet-owl-12.loca.lt" };

function intercept() {
  const launched: object[] = [];
  const shared: object[] = [];
  stopIntercepting = interceptLaunches({
    onLaunch(server) {
      launched.push(server);
      return launchResult;
    },
    onSharedServer: (server) => void shared.push(server),
  });
  return { launched, shared };
}

test("launch() does not listen, and returns the result of the interceptor", async () => {
  const { launched } = intercept();
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ logger });
  expect(await server.launch({ port: -1, publicUrl: "no address" })).toEqual(launchResult);
  expect(launched).toEqual([server]);
  expect(logger.lines).toEqual([]);
});

test("launch() listens again after the interception ended", async () => {
  const { launched } = intercept();
  await using server = new WebhooksServer({ logger: createMemoryLogger() });
  await server.launch();
  stopIntercepting();
  expect(launchInterceptor()).toBeUndefined();
  const { url } = await server.launch({ port: 0 });
  expect((await fetch(url)).status).toBe(200);
  expect(launched).toEqual([server]);
});

test("webhookEndpoint() passes its shared server to the interceptor and does not launch it at the end of the script", async () => {
  const { launched, shared } = intercept();
  const listenersBefore = process.listenerCount("beforeExit");
  vi.resetModules();
  const { webhookEndpoint } = await import("../../../src/receiver/server.ts");
  webhookEndpoint("retrain", () => {});
  expect(process.listenerCount("beforeExit")).toBe(listenersBefore);
  expect(shared).toMatchObject([{ endpointNames: ["retrain"] }]);
  expect(launched).toEqual([]);
});

test("A value without both methods is not an interceptor", () => {
  const key = Symbol.for("hub-webhooks.launchInterceptor");
  for (const value of [null, "host", { onLaunch: () => {} }]) {
    Reflect.set(globalThis, key, value);
    expect(launchInterceptor()).toBeUndefined();
  }
  Reflect.deleteProperty(globalThis, key);
});
