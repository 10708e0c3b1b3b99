import { beforeAll, describe, expect, test } from "vitest";
import { developmentTokens } from "../../src/local-hub/accounts.ts";
import { specifiedRoutes as routes } from "../../src/local-hub/routes/index.ts";
import { launchLocalHub, openLocalHub, restart, secret, stateFile, type TestHub } from "./support/hub.ts";
import { jobRequests, organizationRequests, ownRequests } from "./support/sample-requests.ts";

const requests = [...ownRequests, ...jobRequests, ...organizationRequests];
const unknownId = "0123456789abcdef01234567";
const organizations = ["free-org", "team-org", "enterprise-org", "acme"];

/** For requests that change nothing: reads, and refused writes. */
let shared: TestHub;
beforeAll(async () => {
  shared = await launchLocalHub();
  return () => shared.hub.close();
});

test("The tests send a request to each of the 35 operations", () => {
  expect(routes).toHaveLength(35);
  expect(requests.map(({ operationId }) => operationId).sort()).toEqual(
    routes.map(({ operationId }) => operationId).sort(),
  );
  for (const { operationId, method, path } of routes) {
    const request = requests.find((candidate) => candidate.operationId === operationId);
    const [verb = "", target = ""] = request?.line("acme").split(" ") ?? [];
    expect(verb.toLowerCase()).toBe(method);
    expect(target).toMatch(new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`));
    expect(organizationRequests.some((candidate) => candidate === request)).toBe(path.includes("/organizations/"));
  }
});

describe("A request without a known bearer token gets 401", () => {
  test.each(requests)("$operationId", async ({ line, body }) => {
    const presented: Record<string, string>[] = [
      {},
      { authorization: "hf_local" },
      { authorization: `Basic ${Buffer.from("local-user:hf_local").toString("base64")}` },
      { authorization: "Token hf_local" },
      { authorization: "Bearer" },
      { authorization: "Bearer hf_nobody" },
      { authorization: `Bearer hf_${secret}` },
      // A known token without its prefix.
      { authorization: "Bearer local" },
      { cookie: "token=hf_local" },
      { "x-api-key": "hf_local" },
    ];
    for (const headers of presented) {
      const answer = await shared.request(line("acme"), { token: null, body, headers });
      expect(answer.status, JSON.stringify(headers)).toBe(401);
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
      expect(answer.text).not.toContain(secret);
    }
    const asParameter = await shared.request(`${line("acme")}?access_token=hf_local`, { token: null, body });
    expect(asParameter.status).toBe(401);
  });

  test("with a message that lists the known tokens, which all have the prefix", async () => {
    const { text } = await shared.request("GET /api/notifications", { token: null });
    for (const { token } of developmentTokens) {
      expect(token).toMatch(/^hf_./);
      expect(text).toContain(token);
    }
  });
});

describe("A token with the role read", () => {
  test.each(requests.filter(({ writes }) => writes))("gets 403 for a write: $operationId", async ({ line, body }) => {
    for (const name of ["acme", "nobody", unknownId]) {
      const answer = await shared.request(line(name), { token: "hf_read", body });
      expect(answer).toMatchObject({
        status: 403,
        body: { error: "This token has read access only. Use hf_local to write." },
      });
    }
  });

  test.each(requests.filter(({ writes }) => !writes))("is accepted for a read: $operationId", async (request) => {
    const { id } = await shared.create({ url: "http://127.0.0.1:1/" });
    const name = jobRequests.includes(request) ? await shared.runJob() : ownRequests.includes(request) ? id : "acme";
    const answer = await shared.request(request.line(name), { token: "hf_read" });
    // A read that requires a token with write permission.
    expect(answer.status).toBe(request.operationId === "getScimConfig" ? 403 : 200);
  });
});

describe("A token with the role fineGrained", () => {
  test.each(jobRequests)("is accepted for the user's own jobs: $operationId", async ({ line, body }) => {
    const hub = await openLocalHub();
    expect((await hub.request(line(await hub.runJob()), { token: "hf_fine", body })).status).toBe(200);
  });

  test.each(ownRequests)(
    "is accepted for the user's own operations: $operationId",
    async ({ operationId, line, body }) => {
      const hub = await openLocalHub();
      const { id } = await hub.create({ url: "http://127.0.0.1:1/" }, { token: "hf_fine" });
      const answer = await hub.request(line(id), { token: "hf_fine", body });
      // This webhook has not delivered anything yet.
      expect(answer.status, answer.text).toBe(operationId === "replayWebhookDelivery" ? 404 : 200);
    },
  );

  test.each(organizationRequests)("can read organizations, but not change them: $operationId", async (request) => {
    const { status, text } = await shared.request(request.line("acme"), { token: "hf_fine", body: request.body });
    const isRefused = request.writes || request.operationId === "getScimConfig";
    expect(status, text).toBe(isRefused ? 403 : 200);
    if (isRefused) expect(text).toContain("hf_local");
  });
});

/** The lowest plan that includes each organization operation according to hub-api.md, and the required access. */
const access: Record<string, { plan: string; names: string; as: "anyone" | "member" | "admin" }> = {
  revokeOrganizationToken: { plan: "enterprise-org", names: "Enterprise", as: "admin" },
  revokeOrganizationTokenById: { plan: "enterprise-org", names: "Enterprise", as: "admin" },
  exportAuditLog: { plan: "team-org", names: "Team", as: "admin" },
  listResourceGroups: { plan: "enterprise-org", names: "Enterprise", as: "member" },
  createResourceGroup: { plan: "enterprise-org", names: "Enterprise", as: "admin" },
  getNetworkSecurity: { plan: "free-org", names: "Free", as: "admin" },
  updateNetworkSecurity: { plan: "free-org", names: "Free", as: "admin" },
  getOrganizationAvatar: { plan: "free-org", names: "Free", as: "anyone" },
  listOrganizationMembers: { plan: "free-org", names: "Free", as: "anyone" },
  setMemberRole: { plan: "team-org", names: "Team", as: "admin" },
  getScimConfig: { plan: "acme", names: "Enterprise Plus", as: "admin" },
};

const cells = organizationRequests.flatMap((request) =>
  organizations.map((organization) => {
    const { plan = "", names = "", as = "admin" } = access[request.operationId] ?? {};
    const isIncluded = organizations.indexOf(organization) >= organizations.indexOf(plan);
    return { ...request, organization, names, as, isIncluded };
  }),
);

describe("The plan of an organization", () => {
  test.each(cells.filter(({ isIncluded }) => isIncluded))(
    "of $organization includes $operationId",
    async ({ line, body, organization }) => {
      const hub = await openLocalHub();
      const { status, text } = await hub.request(line(organization), { body });
      expect(status, text).toBe(200);
    },
  );

  test.each(cells.filter(({ isIncluded }) => !isIncluded))(
    "of $organization does not include $operationId",
    async ({ line, body, organization, names }) => {
      const answer = await shared.request(line(organization), { body });
      const error = expect.stringMatching(
        new RegExp(`requires the ${names} plan.*${organization}.* Use the organization acme`),
      );
      expect(answer).toMatchObject({ status: 403, body: { error } });
    },
  );
});

describe("A user", () => {
  test.each(cells.filter(({ isIncluded, organization }) => isIncluded && organization === "acme"))(
    "with the role of a member can do $operationId if it is for $as",
    async ({ line, body, as }) => {
      const hub = await openLocalHub();
      const { status, text } = await hub.request(line("acme"), { token: "hf_other", body });
      expect(status, text).toBe(as === "admin" ? 403 : 200);
    },
  );

  test.each(cells.filter(({ isIncluded, organization }) => isIncluded && organization === "acme"))(
    "without access can do $operationId only if it is for anyone",
    async ({ line, body, as }) => {
      const hub = await openLocalHub();
      const noAccess = { body: { role: "no_access" } };
      await hub.request("PUT /api/organizations/acme/members/other-user/role", noAccess);
      const { status, text } = await hub.request(line("acme"), { token: "hf_other", body });
      expect(status, text).toBe(as === "anyone" ? 200 : 403);
    },
  );

  test.each(cells.filter(({ isIncluded, organization }) => isIncluded && organization === "enterprise-org"))(
    "outside the organization can do $operationId only if it is for anyone",
    async ({ line, body, as }) => {
      const hub = await openLocalHub();
      const { status, text } = await hub.request(line("enterprise-org"), { token: "hf_other", body });
      expect(status, text).toBe(as === "anyone" ? 200 : 403);
    },
  );

  test.each(organizationRequests)("gets 404 for an unknown organization: $operationId", async (request) => {
    for (const name of ["nobody", "Acme", "local-user", "constructor"]) {
      const { status, text } = await shared.request(request.line(name), { body: request.body });
      expect(status, text).toBe(404);
      expect(text).toContain(name);
    }
  });
});

test("A restart keeps the changes to an organization, and a reset reverts them", async () => {
  const state = stateFile();
  const hub = await openLocalHub({ state });
  const read = async (asked: typeof hub) => {
    const lines = ["acme/settings/network-security", "acme/members?search=other", "acme/members?search=local-user"];
    const answers = await Promise.all(lines.map((line) => asked.request(`GET /api/organizations/${line}`)));
    const revoked = await asked.request("GET /api/organizations/acme/avatar", { token: "hf_read" });
    return [...answers.map(({ text }) => text.replaceAll(asked.url, "")), revoked.status];
  };
  const before = await read(hub);
  for (const { line, body, writes } of organizationRequests) if (writes) await hub.request(line("acme"), { body });
  await hub.request("PUT /api/organizations/acme/members/other-user/role", { body: { role: "write" } });
  const changed = await read(hub);
  expect(changed.map((text, index) => text === before[index])).toEqual([false, false, true, false]);
  const second = await restart(hub, { state });
  expect(await read(second)).toEqual(changed);
  await second.request("POST /_local/reset", { token: null, body: {} });
  expect(await read(second)).toEqual(before);
  const third = await restart(second, { state });
  expect(await read(third)).toEqual(before);
});
