import { afterEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { describeIssue } from "../../src/core/describe.ts";
import { webhookJobRequest } from "../../src/hub/jobs/definition.ts";
import { memberOperations } from "../../src/hub/organizations/organizations.ts";
import { timestamp, wholeNumber } from "../../src/hub/schemas.ts";
import { fieldProblems } from "../../src/hub/validation/arguments.ts";
import { lenient } from "../../src/hub/validation/lenient.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import {
  allOf,
  type Connected,
  connect,
  jobWebhook,
  openHub,
  rejectionOf,
  sourceWebhook,
  urlWebhook,
} from "./scripted-hub.ts";

/** Returns the problems that `fieldProblems` reports for a value. */
function problemsOf(schema: z.core.$ZodType, value: unknown) {
  const { error } = z.safeParse(schema, value, { error: describeIssue });
  return error && fieldProblems(error, { name: "body" }).map(({ field, problem }) => `${field}: ${problem}`);
}

const query = z.strictObject({ p: wholeNumber({ minimum: 0, maximum: 9, fallback: 0 }), name: z.string().optional() });

describe("fieldProblems", () => {
  test.each<[what: string, schema: z.core.$ZodType, value: unknown, problems: string[]]>([
    ["that is empty", z.object({ name: z.string().min(1) }), { name: "" }, ["name: must not be empty"]],
    [
      "that has no items",
      z.object({ names: z.array(z.string()).min(1) }),
      { names: [] },
      ["names: expected at least one item"],
    ],
    ["that is missing", z.object({ name: z.string() }), {}, ["name: required"]],
    ["that is unknown", z.strictObject({}), { "a b": 1 }, ['["a b"]: unknown field']],
    ["of another type", z.object({ on: z.boolean() }), { on: "yes" }, ["on: expected boolean, received string"]],
    ["of an enumeration", z.object({ a: z.enum(["x", "y"]) }), { a: "z" }, ['a: expected "x" or "y"']],
    ["of a query that is given twice", query, { name: ["a", "b"] }, ["name: expected only one value"]],
    ["that is not a whole number", query, { p: "1.5" }, ["p: expected a whole number from 0 to 9"]],
    [
      "that is above the maximum and the safe integers",
      query,
      { p: "9007199254740993" },
      ["p: expected a whole number from 0 to 9"],
    ],
    [
      "that is a time with another UTC offset",
      z.object({ at: timestamp }),
      { at: "2026-01-31T09:15:27+01:00" },
      ["at: expected a time in UTC that ends in Z, as in 2026-01-31T09:15:27Z"],
    ],
    [
      "that is an incomplete email address",
      memberOperations.list.request.query,
      { email: "ada@" },
      ["email: expected a complete email address"],
    ],
    [
      "that is a name in a map",
      webhookJobRequest,
      { flavor: "h200", environment: { A: "x" }, secrets: { _: "x" }, labels: { "": "x" } },
      [
        "environment.A: expected at least two characters: a letter, then letters, digits, or _",
        "secrets._: expected a letter, then letters, digits, or _",
        'labels[""]: expected 1 to 100 letters, digits, dots, _, or -',
      ],
    ],
    ["that is the body itself", z.object({}), [], ["body: expected object, received array"]],
  ])("describes a field %s", (_what, schema, value, expected) => {
    expect(problemsOf(schema, value)).toEqual(expected);
  });
});

async function read(webhook: unknown): Promise<unknown> {
  const hub = await openHub({ json: { webhook } });
  return connect(hub.url).webhooks.get("w1");
}

describe("A response of a newer Hub is accepted", () => {
  test.each([urlWebhook, jobWebhook, sourceWebhook])("unchanged: $id", async (webhook) => {
    expect(await read(webhook)).toEqual(webhook);
  });

  test.each([
    ["an unknown field", { ...urlWebhook, hasSecret: true, owner: { id: 1 } }],
    ["an unknown field deep inside", { ...urlWebhook, watched: [{ name: "a", type: "user", since: 2026 }] }],
    ["an unknown type of watched item", { ...urlWebhook, watched: [{ name: "2401.1", type: "paper" }] }],
    ["another domain", { ...urlWebhook, domains: ["wiki"] }],
    ["another state", { ...urlWebhook, disabled: "paused" }],
    ["an id of another form", { ...urlWebhook, id: "wh_1" }],
    ["an invalid URL", { ...urlWebhook, url: "somewhere" }],
    ["a time of another form", { ...urlWebhook, lastTriggerAt: "2026-01-31 09:15" }],
    ["nothing watched", { ...urlWebhook, watched: [], domains: [] }],
    ["another flavor", { ...jobWebhook, job: { ...jobWebhook.job, flavor: "h9000" } }],
    [
      "names and values of another form",
      { ...jobWebhook, job: { ...jobWebhook.job, environment: { "a b": "" }, labels: { "": "ü" } } },
    ],
    ["a timeout that is not a whole number", { ...jobWebhook, job: { ...jobWebhook.job, timeoutSeconds: 0.5 } }],
  ])("with %s", async (_what, webhook) => {
    expect(await read(webhook)).toEqual(webhook);
  });

  test("with null in optional fields, which counts as absent", async () => {
    const { id, disabled, watched, domains } = sourceWebhook;
    const nulls = { url: null, job: null, jobSourceId: null, secret: null, lastTriggerAt: null };
    const webhook = await read({
      id,
      disabled,
      watched: watched.map((item) => ({ ...item, avatarUrl: null })),
      domains,
      ...nulls,
    });
    expect(webhook).toStrictEqual({ id, disabled, watched, domains });
  });

  test("with defaults for missing fields of a job", async () => {
    expect(await read({ ...jobWebhook, job: { flavor: "cpu-basic" } })).toStrictEqual({
      ...jobWebhook,
      job: { flavor: "cpu-basic", environment: {}, timeoutSeconds: null },
    });
    expect(
      await read({ ...jobWebhook, job: { flavor: "cpu-basic", environment: null, timeoutSeconds: null } }),
    ).toMatchObject({ job: { environment: {}, timeoutSeconds: null } });
  });

  test("without changing prototypes", async () => {
    const hub = await openHub({
      text: `{"webhook": ${JSON.stringify(urlWebhook).replace("{", '{"__proto__": {"polluted": true}, ')}}`,
    });
    const webhook = await connect(hub.url).webhooks.get("w1");
    expect(webhook).toMatchObject({ id: urlWebhook.id });
    expect("polluted" in webhook || "polluted" in {}).toBe(false);
  });
});

test("keeps null in nullable fields", () => {
  const schema = lenient(
    z.strictObject({ description: z.string().nullable().optional(), owner: z.string().optional() }),
  );
  expect(schema.parse({ description: null, owner: null })).toStrictEqual({ description: null });
});

test("accepts other numbers and booleans, but no other types", () => {
  const schema = lenient(
    z.strictObject({ version: z.literal(3), enabled: z.literal(true), ready: z.enum({ no: 0, yes: 1 }) }),
  );
  const newer = { version: 4, enabled: false, ready: 2 };
  expect(schema.parse(newer)).toEqual(newer);
  for (const field of ["version", "enabled", "ready"]) {
    expect(schema.safeParse({ ...newer, [field]: "text" }).error?.issues).toMatchObject([{ path: [field] }]);
  }
});

describe("An unusable response is HUB_RESPONSE_INVALID", () => {
  const { id: _id, ...withoutId } = urlWebhook;
  test.each<[string, unknown, string]>([
    ["not an object", "text", "webhook"],
    ["null", null, "webhook"],
    ["a list", [urlWebhook], "webhook"],
    ["no id", withoutId, "webhook.id"],
    ["an id that is null", { ...urlWebhook, id: null }, "webhook.id"],
    ["an id that is a number", { ...urlWebhook, id: 7 }, "webhook.id"],
    ["watched that is not a list", { ...urlWebhook, watched: {} }, "webhook.watched"],
    ["watched that is null", { ...urlWebhook, watched: null }, "webhook.watched"],
    ["a watched item without a name", { ...urlWebhook, watched: [{ type: "user" }] }, "webhook.watched.0.name"],
    ["a job that is a string", { ...jobWebhook, job: "job-1" }, "webhook.job"],
  ])("%s", async (_what, webhook, field) => {
    const error = await rejectionOf(read(webhook));
    expect(error).toMatchObject({ name: "HubError", code: "HUB_RESPONSE_INVALID", retryable: false });
    expect(error).toHaveProperty("message", expect.stringContaining(`(${field}: `));
  });

  test("text that is not JSON, without a retry", async () => {
    const hub = await openHub({ text: '[{"id":' });
    expect(await rejectionOf(connect(hub.url).webhooks.get("w1"))).toMatchObject({ code: "HUB_RESPONSE_INVALID" });
    expect(hub.calls).toHaveLength(1);
  });

  test("an object instead of a list", async () => {
    const hub = await openHub({ json: { webhooks: [] } });
    expect(await rejectionOf(connect(hub.url).webhooks.list())).toMatchObject({ code: "HUB_RESPONSE_INVALID" });
  });

  test("an endless body, which is canceled", async () => {
    const closed = Promise.withResolvers<void>();
    const hub = await openHub((_request, response) => {
      response.on("close", closed.resolve);
      const chunk = Buffer.alloc(1_000_000, " ");
      const write = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", write);
      write();
    });
    expect(await rejectionOf(connect(hub.url).webhooks.list())).toMatchObject({
      code: "HUB_RESPONSE_INVALID",
      message: expect.stringContaining("a response of more than"),
    });
    await closed.promise;
  });
});

const id = "65b2f0a1c3d4e5f60718293a";
const webhook = {
  watched: [{ type: "dataset", name: "acme/data" }],
  domains: ["repo"],
  url: "https://acme.example/hook",
};

/** Calls a method with arguments that its types do not allow, as a JavaScript program can. */
function call(area: object, method: string, ...args: unknown[]): Promise<unknown> {
  const found: unknown = Reflect.get(area, method);
  if (typeof found !== "function") throw new Error(`There is no ${method}.`);
  return Reflect.apply(found, area, args);
}

/** Runs a call against a Hub that accepts everything, and returns the request and the warnings. */
async function sent(run: (hub: Connected) => Promise<unknown>, json: unknown = {}) {
  const hub = await openHub({ json });
  const logger = createMemoryLogger();
  const given = await run(connect(hub.url, { logger }));
  const { path = "", body = "" } = hub.requests.at(-1) ?? {};
  return { given, path, body: body === "" ? undefined : JSON.parse(body), warnings: logger.lines };
}

describe("A value that this release does not list is sent, with a warning that contains it:", () => {
  const job = { flavor: "cpu-basic" };
  const withJob = (changes: object) => ({ ...webhook, url: undefined, job: { ...job, ...changes } });
  const volume = { source: "acme/a", mountPath: "/a" };
  const group = { id, name: "x", users: [], resources: [] };

  const create =
    (request: object) =>
    ({ webhooks }: Connected) =>
      call(webhooks, "create", request);
  const createGroup =
    (changes: object) =>
    ({ organizations }: Connected) =>
      call(organizations.resourceGroups, "create", "acme", { name: "x", ...changes });
  const found = { webhook: urlWebhook };
  const add = [{ type: "collection", id: "x" }];

  test.each<[field: string, value: string, answer: unknown, run: (hub: Connected) => Promise<unknown>]>([
    ["watched[0].type", "paper", found, create({ ...webhook, watched: [{ type: "paper", name: "2401.1" }] })],
    ["domains[1]", "wiki", found, create({ ...webhook, domains: ["repo", "wiki"] })],
    ["job.flavor", "b300x8", found, create(withJob({ flavor: "b300x8" }))],
    ["job.arch", "riscv", found, create(withJob({ arch: "riscv" }))],
    ["job.volumes[0].type", "kernel", found, create(withJob({ volumes: [{ type: "kernel", ...volume }] }))],
    ["add[0].type", "collection", {}, ({ settings }) => call(settings, "updateWatch", { add })],
    ["autoJoin.scope", "guests", group, createGroup({ autoJoin: { enabled: true, role: "read", scope: "guests" } })],
    ["autoJoin.enabled", "later", group, createGroup({ autoJoin: { enabled: "later", at: 1 } })],
    ["repos[0].type", "app", group, createGroup({ repos: [{ type: "app", name: "acme/a" }] })],
  ])("%s %j", async (field, value, answer, run) => {
    const { body, warnings } = await sent(run, answer);
    expect(JSON.stringify(body)).toContain(JSON.stringify(value));
    expect(warnings).toMatchObject([{ level: "warn", code: "UNKNOWN_VALUE", field, value }]);
    expect(warnings[0]?.msg).toMatch(/sent unchanged.*added it after hub-webhooks \d+\.\d+\.\d+/);
  });

  test("resource of the network security", async () => {
    const settings = { enforceAuth: true, enforceIpRestriction: false, highRateLimits: false, ipRanges: [] };
    const blockedContents = [{ resource: "app", scope: "acme/*" }];
    const answer = { ...settings, blockedContents, allowedContents: [] };
    const { body, warnings } = await sent(
      ({ organizations }) => call(organizations.networkSecurity, "update", "acme", { blockedContents }),
      answer,
    );
    expect(body).toEqual({ blockedContents });
    expect(warnings).toMatchObject([{ field: "blockedContents[0].resource", value: "app" }]);
  });

  test("a query parameter", async () => {
    const page = { notifications: [], count: { view: 0, unread: 0, all: 0 }, start: 0 };
    const { path, warnings } = await sent(
      ({ notifications }) => call(notifications, "list", { repoType: "app", sort: "oldest", most: 5, hot: true, p: 1 }),
      page,
    );
    expect(path).toBe("/api/notifications?p=1&repoType=app&sort=oldest&most=5&hot=true");
    expect(warnings.map(({ field, value }) => [field, value])).toEqual([
      ["repoType", "app"],
      ["sort", undefined],
      ["most", undefined],
      ["hot", undefined],
    ]);
  });

  test("terms of the audit log, without a warning, because there is no list of known terms", async () => {
    const { path, warnings } = await sent(
      ({ organizations }) => allOf(organizations.auditLog("acme", { q: "repo:acme/a" })),
      [],
    );
    expect(path).toContain("q=repo%3Aacme%2Fa");
    expect(warnings).toEqual([]);
  });

  test("a custom role, without a warning, because any name is allowed", async () => {
    const { body, warnings } = await sent(({ organizations }) =>
      organizations.setMemberRole("acme", "ada", { role: "auditor" }),
    );
    expect([body, warnings]).toEqual([{ role: "auditor" }, []]);
  });
});

describe("A field that this release does not list is sent, with a warning that contains its name:", () => {
  test.each<[string, object]>([
    ["priority", { ...webhook, priority: 5 }],
    ["watched[0].branch", { ...webhook, watched: [{ type: "dataset", name: "a/b", branch: "main" }] }],
    ["job.gpus", { ...webhook, url: undefined, job: { flavor: "cpu-basic", gpus: [1] } }],
    [
      "job.expose.protocol",
      { ...webhook, url: undefined, job: { flavor: "cpu-basic", expose: { ports: [1], protocol: "tcp" } } },
    ],
    ["scheduledJobId", { ...webhook, url: undefined, scheduledJobId: "job-1" }],
  ])("%s", async (field, request) => {
    const { body, warnings } = await sent(({ webhooks }) => call(webhooks, "create", request), { webhook: urlWebhook });
    expect(body).toMatchObject(JSON.parse(JSON.stringify(request)));
    expect(warnings).toMatchObject([{ level: "warn", code: "UNKNOWN_FIELD", field }]);
  });

  test("in an update, in the webhook and in its job", async () => {
    const hub = await openHub({ json: { webhook: jobWebhook } });
    const logger = createMemoryLogger();
    const { webhooks } = connect(hub.url, { logger });
    const writeOnly = ["arch", "attempts", "volumes", "expose", "ssh", "resourceGroupId", "secrets"];
    const none = Object.fromEntries(writeOnly.map((name) => [name, null]));
    await call(webhooks, "update", "w1", { priority: 5, job: { ...none, flavor: "h9000", gpus: 2 } });
    expect(hub.lastBody).toMatchObject({ priority: 5, job: { flavor: "h9000", gpus: 2, dockerImage: "python:3.13" } });
    expect(logger.lines.map(({ field }) => field)).toEqual(["priority", "job.flavor", "job.gpus"]);
  });

  test("with a suggestion of a similar field", async () => {
    const request = { ...webhook, url: undefined, job: { flavor: "cpu-basc", enviroment: {} } };
    const { warnings } = await sent(({ webhooks }) => call(webhooks, "create", request), { webhook: urlWebhook });
    expect(warnings.map(({ msg }) => msg)).toEqual([
      expect.stringContaining('Did you mean "cpu-basic"?'),
      expect.stringContaining('Did you mean "environment"?'),
    ]);
  });

  test("unless its value is undefined", async () => {
    const { warnings } = await sent(({ webhooks }) => call(webhooks, "create", { ...webhook, priority: undefined }), {
      webhook: urlWebhook,
    });
    expect(warnings).toEqual([]);
  });
});

describe("The warning", () => {
  const create = ({ webhooks }: Connected, name: string) =>
    call(webhooks, "create", {
      ...webhook,
      watched: [
        { type: "paper", name },
        { type: "paper", name: "b" },
      ],
    });

  test("is logged once per value, regardless of where and how often it is sent", async () => {
    const hub = await openHub({ json: { webhook: urlWebhook } });
    const logger = createMemoryLogger();
    const areas = connect(hub.url, { logger });
    for (const name of ["a", "b", "c"]) await create(areas, name);
    expect(logger.lines).toMatchObject([{ field: "watched[0].type", value: "paper" }]);
    await call(areas.webhooks, "create", { ...webhook, watched: [{ type: "blog", name: "a" }] });
    expect(logger.lines).toHaveLength(2);
  });

  test("contains no secret of the request", async () => {
    const secret = "Planted-5ecret-88";
    const request = { ...webhook, secret, domains: ["repo", secret], [secret]: 1 };
    const hub = await openHub({ json: { webhook: urlWebhook } });
    const logger = createMemoryLogger();
    await call(connect(hub.url, { logger }).webhooks, "create", request);
    expect(logger.lines).toHaveLength(2);
    expect(logger.text()).not.toContain(secret);
  });

  test("contains no secret of an update", async () => {
    const secret = "Planted-5ecret-99";
    const hub = await openHub({ json: { webhook: urlWebhook } });
    const logger = createMemoryLogger();
    await call(connect(hub.url, { logger }).webhooks, "update", "w1", { secret, domains: [secret] });
    expect(logger.lines).toMatchObject([{ field: "domains[0]", value: "[redacted]" }]);
    expect(logger.text()).not.toContain(secret);
  });

  describe("without a logger", () => {
    afterEach(() => {
      vi.unstubAllGlobals();
      vi.restoreAllMocks();
    });

    test("is a process warning", async () => {
      const emitted = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
      const hub = await openHub({ json: { webhook: urlWebhook } });
      await create(connect(hub.url), "a");
      expect(emitted.mock.calls).toEqual([
        [expect.stringContaining('"paper"'), { type: "HubWarning", code: "UNKNOWN_VALUE" }],
      ]);
    });

    test("is written to the console in a runtime without process warnings", async () => {
      const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
      const hub = await openHub({ json: { webhook: urlWebhook } });
      const areas = connect(hub.url);
      vi.stubGlobal("process", { env: {} });
      await create(areas, "a");
      vi.unstubAllGlobals();
      expect(warned.mock.calls).toEqual([[expect.stringContaining('"paper"')]]);
    });
  });
});

describe("Unknown parts do not hide errors that any release rejects:", () => {
  test.each<[string, unknown, string[]]>([
    ["a type that is not a string", { ...webhook, watched: [{ type: 7, name: "a" }] }, ["watched[0].type"]],
    ["no target", { ...webhook, url: undefined }, ["url"]],
    ["two targets, and an unknown one", { ...webhook, jobSourceId: "j", scheduledJobId: "s" }, ["url"]],
    ["a missing field, and an unknown one", { ...webhook, domains: undefined, domain: ["repo"] }, ["domains"]],
  ])("%s", async (_what, request, fields) => {
    const hub = await openHub({ json: { webhook: urlWebhook } });
    const logger = createMemoryLogger();
    const error = await rejectionOf(call(connect(hub.url, { logger }).webhooks, "create", request));
    expect(error).toMatchObject({ code: "ARGUMENT_INVALID", fields });
    expect([hub.calls, logger.lines]).toEqual([[], []]);
  });
});

test("A response without required fields is an error with the version of this package", async () => {
  const hub = await openHub({ json: [{ id, name: "x", users: [] }] });
  const error = await rejectionOf(connect(hub.url).organizations.resourceGroups.list("acme"));
  expect(error).toMatchObject({
    code: "HUB_RESPONSE_INVALID",
    message: expect.stringMatching(/\(resources: |0\.resources: /),
  });
  expect(error).toHaveProperty("message", expect.stringMatching(/API has changed since hub-webhooks \d+\.\d+\.\d+/));
});

test("The repositories in a response of a Hub from before 2026-07-01 become the resources of the group", async () => {
  const repos = [{ type: "dataset", name: "acme/data", private: true }];
  const hub = await openHub({ json: [{ id, name: "x", users: [], repos }] });
  const [group] = await connect(hub.url).organizations.resourceGroups.list("acme");
  expect(group).toMatchObject({ resources: repos, repos });
});

test("A resource group of a newer Hub can have resources of unknown types", async () => {
  const resources = [{ type: "agent", handle: "a" }];
  const hub = await openHub({ json: [{ id, name: "x", users: [], resources }] });
  expect(await connect(hub.url).organizations.resourceGroups.list("acme")).toMatchObject([{ resources }]);
});
