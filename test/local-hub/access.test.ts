import { describe, expect, test } from "vitest";
import { developmentTokens } from "../../src/local-hub/accounts.ts";
import { openLocalHub, pushed, restart, secret, shareLocalHub, stateFile } from "./support/hub.ts";
import { jobRequests, organizationRequests, ownRequests } from "./support/sample-requests.ts";

const requests = [...ownRequests, ...jobRequests, ...organizationRequests];
const organizations = ["free-org", "team-org", "enterprise-org", "acme"];

/** For requests that change nothing: reads, and refused writes. */
const shared = await shareLocalHub();

describe("A request without a known bearer token gets 401", () => {
  test.each(requests)("$operationId", async ({ line, body }) => {
    expect((await shared.request(line("acme"), { token: null, body })).status).toBe(401);
  });

  test("with a message that lists the known tokens, which all have the prefix", async () => {
    const presented: Record<string, string>[] = [
      ...["hf_local", `Basic ${Buffer.from("local-user:hf_local").toString("base64")}`, "Token hf_local", "Bearer"].map(
        (authorization) => ({ authorization }),
      ),
      ...["nobody", secret, "localx", "LOCAL", "local hf_other"].map((name) => ({
        authorization: `Bearer hf_${name}`,
      })),
      // A known token without its prefix, and a property of every object.
      ...["local", "HF_LOCAL", "constructor"].map((token) => ({ authorization: `Bearer ${token}` })),
      ...[{ cookie: "token=hf_local" }, { "x-api-key": "hf_local" }],
    ];
    const path = "GET /api/notifications";
    for (const headers of presented) {
      const answer = await shared.request(path, { token: null, headers });
      expect(answer.status, JSON.stringify(headers)).toBe(401);
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
      expect(`${answer.text}${JSON.stringify([...answer.headers])}${shared.log.text()}`).not.toContain(secret);
    }
    const { status, text } = await shared.request(`${path}?access_token=hf_local`, { token: null });
    expect(status).toBe(401);
    for (const { token } of developmentTokens) {
      expect(token).toMatch(/^hf_./);
      expect(text).toContain(token);
    }
  });
});

test("A token with the role read is accepted for a read", async () => {
  const hub = await openLocalHub();
  const { id } = await hub.create({ url: "http://127.0.0.1:1/" });
  const job = await hub.runJob();
  for (const request of requests.filter(({ writes }) => !writes)) {
    const name = jobRequests.includes(request) ? job : ownRequests.includes(request) ? id : "acme";
    // The prefix can be in any case.
    const headers = { authorization: "bearer hf_read" };
    const { status } = await hub.request(request.line(name), { token: null, headers });
    // A read that requires a token with write permission.
    expect(status, request.operationId).toBe(request.operationId === "getScimConfig" ? 403 : 200);
  }
});

describe("A token with the role fineGrained", () => {
  test("is accepted for the user's own operations and jobs", async () => {
    const hub = await openLocalHub();
    for (const { line, body, operationId } of [...jobRequests, ...ownRequests]) {
      const { id } = await hub.create({ url: "http://127.0.0.1:1/" }, { token: "hf_fine" });
      const name = jobRequests.some((request) => request.operationId === operationId) ? await hub.runJob() : id;
      const answer = await hub.request(line(name), { token: "hf_fine", body });
      // This webhook has not delivered anything yet.
      expect(answer.status, answer.text).toBe(operationId === "replayWebhookDelivery" ? 404 : 200);
    }
  });

  test("can read organizations, but not change them", async () => {
    for (const { line, body, writes, operationId } of organizationRequests) {
      const { status, text } = await shared.request(line("acme"), { token: "hf_fine", body });
      const isRefused = writes || operationId === "getScimConfig";
      expect(status, text).toBe(isRefused ? 403 : 200);
      if (isRefused) expect(text).toContain("hf_local");
    }
  });

  test("cannot write to an organization whose name is sent in another case", async () => {
    for (const [line, body] of [
      ["POST /api/datasets/ACME/reviews/discussions", { title: "Question", description: "Why?" }],
      ["POST /api/datasets/ACME/reviews/discussions/12/pin", { pinned: true }],
      ["POST /api/repos/create", { type: "dataset", name: "new", organization: "Acme" }],
      ["POST /api/repos/move", { type: "dataset", fromRepo: "local-user/notes", toRepo: "ACME/notes" }],
    ] as const)
      expect(await shared.request(line, { token: "hf_fine", body }), line).toMatchObject({ status: 403 });
  });
});

test("The name of an account can be sent in any case", async () => {
  const hub = await openLocalHub();
  await hub.request("PUT /api/organizations/acme/members/other-user/role", { body: { role: "write" } });
  const created = { type: "dataset", name: "new", organization: "ACME", private: true };
  expect(await hub.request("POST /api/repos/create", { token: "hf_other", body: created })).toMatchObject({
    body: { name: "acme/new" },
  });
  const line = "POST /api/datasets/ACME/reviews/discussions/12/pin";
  expect(await hub.request(line, { token: "hf_other", body: { pinned: true } })).toMatchObject({ status: 200 });
  await hub.trigger({ repo: { type: "dataset", name: "Acme/hidden", private: true }, event: pushed.event });
  expect(await hub.request("GET /api/datasets?author=Acme&search=hidden", { token: "hf_other" })).toMatchObject({
    body: [{ author: "acme" }],
  });
  await hub.request("POST /api/buckets/ACME/store");
  expect((await hub.request("GET /api/buckets/Acme?search=store")).body).toMatchObject([{ id: "acme/store" }]);
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

function accessTo(operationId: string) {
  const found = access[operationId];
  if (!found) throw new Error(`There is no access for ${operationId}.`);
  return found;
}

test.each(organizations)(
  "The plan of an organization includes exactly the operations of the plan and lower ones: %s",
  async (organization) => {
    const hub = await openLocalHub();
    for (const { line, body, operationId } of organizationRequests) {
      const { plan, names } = accessTo(operationId);
      const { status, text } = await hub.request(line(organization), { body });
      const isIncluded = organizations.indexOf(organization) >= organizations.indexOf(plan);
      expect(status, text).toBe(isIncluded ? 200 : 403);
      const refusal = new RegExp(`requires the ${names} plan.*${organization}.* Use the organization acme`);
      if (!isIncluded) expect(text).toMatch(refusal);
    }
  },
);

describe("A user", () => {
  test.each([
    ["with the role of a member", "acme", "read", ["anyone", "member"]],
    ["without access", "acme", "no_access", ["anyone"]],
    ["outside the organization", "enterprise-org", undefined, ["anyone"]],
  ])("%s can do exactly what is for them", async (_who, organization, role, allowed) => {
    const hub = await openLocalHub();
    const line = `PUT /api/organizations/${organization}/members/other-user/role`;
    if (role !== undefined) expect((await hub.request(line, { body: { role } })).status).toBe(200);
    for (const { line, body, operationId } of organizationRequests) {
      const { plan, as } = accessTo(operationId);
      if (organizations.indexOf(organization) < organizations.indexOf(plan)) continue;
      const { status, text } = await hub.request(line(organization), { token: "hf_other", body });
      expect(status, `${operationId}: ${text}`).toBe(allowed.includes(as) ? 200 : 403);
    }
  });

  test("gets 404 for an unknown organization", async () => {
    for (const { line, body } of organizationRequests) {
      for (const name of ["nobody", "Acme", "local-user", "constructor"]) {
        const { status, text } = await shared.request(line(name), { body });
        expect(status, text).toBe(404);
        expect(text).toContain(name);
      }
    }
  });
});

test("A refused write changes nothing", async () => {
  const hub = await openLocalHub();
  const owned = ["webhooks", "jobs", "settings", "papers"].map((name) => `/_local/${name}`);
  const paths = ["settings/network-security", "members", "resource-groups", "audit-log/export", "avatar"];
  const read = async () => {
    const lines = [...owned, "/api/notifications", ...paths.map((path) => `/api/organizations/acme/${path}`)];
    const answers = await Promise.all(lines.map((line) => hub.request(`GET ${line}`)));
    const revoked = await hub.request("GET /api/organizations/acme/avatar", { token: "hf_read" });
    return [...answers.map(({ text }) => text), revoked.status];
  };
  const before = await read();
  for (const request of requests.filter(({ writes }) => writes)) {
    const isOfOrganization = organizationRequests.includes(request);
    for (const token of ["hf_read", ...(isOfOrganization ? ["hf_fine", "hf_other"] : [])]) {
      const { status } = await hub.request(request.line("acme"), { token, body: request.body });
      expect(status, `${request.operationId} ${token}`).toBe(403);
    }
    // A token that cannot write gets 403 for every name.
    for (const name of ["nobody", "0123456789abcdef01234567"])
      expect((await hub.request(request.line(name), { token: "hf_read", body: request.body })).status).toBe(403);
  }
  expect(await read()).toEqual(before);
});

test("A restart keeps all changes, and a reset reverts them", async () => {
  const options = { state: stateFile(), now: () => 1_700_000_000_000 };
  const hub = await openLocalHub(options);
  const organization = ["settings/network-security", "members?search=other", "resource-groups", "audit-log/export"];
  const lines = [
    ...organization.map((path) => `/api/organizations/acme/${path}`),
    ...[
      "/_local/settings",
      "/_local/papers",
      "/api/notifications",
      "/api/organizations/acme/members?search=local-user",
    ],
  ];
  const read = async (asked: typeof hub) => {
    const answers = await Promise.all(lines.map((line) => asked.request(`GET ${line}`)));
    const revoked = await asked.request("GET /api/organizations/acme/avatar", { token: "hf_read" });
    return [...answers.map(({ text }) => text.replaceAll(asked.url, "")), revoked.status];
  };
  const before = await read(hub);
  for (const { line, body, writes } of organizationRequests) if (writes) await hub.request(line("acme"), { body });
  await hub.request("PUT /api/organizations/acme/members/other-user/role", { body: { role: "write" } });
  await hub.request("PATCH /api/settings/watch", { body: { add: [{ type: "org", id: "acme" }] } });
  await hub.request("POST /api/settings/papers/claim", { body: { paperId: "2601.04211" } });
  await hub.request("POST /api/notifications/mark-as-read?applyToAll=true", { body: {} });
  const changed = await read(hub);
  const isSame = changed.map((text, index) => text === before[index]);
  expect(isSame).toEqual([...Array(7).fill(false), true, false]);
  const second = await restart(hub, options);
  expect(await read(second)).toEqual(changed);
  await second.request("POST /_local/reset", { token: null, body: {} });
  expect(await read(second)).toEqual(before);
  expect(await read(await restart(second, options))).toEqual(before);
});
