import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { getNetworkSecurity } from "../../../../src/local-hub/resources/organizations/organization.ts";
import { holdsSecret } from "../../../support/secrets.ts";
import { openMemoryStore } from "../../support/context.ts";
import { auditEvents, openLocalHub, restart, stateFile, type TestHub } from "../../support/hub.ts";
import { organizationRequests, type SampleRequest } from "../../support/sample-requests.ts";

const pathOf = (organization: string) => `/api/organizations/${organization}/settings/tokens/revoke`;

const revoked = "org.token_approval.authorization_request.revoked";

async function revoke(hub: TestHub, token: string, organization = "acme"): Promise<void> {
  const { status, body, text } = await hub.request(`POST ${pathOf(organization)}`, { body: { token } });
  expect({ status, body }, text).toEqual({ status: 200, body: {} });
}

/** Makes the other user an admin of acme with all permissions. */
async function promote(hub: TestHub): Promise<void> {
  const answer = await hub.request("PUT /api/organizations/acme/members/other-user/role", { body: { role: "admin" } });
  expect(answer.status, answer.text).toBe(200);
}

let hub: TestHub;
beforeEach(async () => {
  hub = await openLocalHub();
});

describe("A token that an organization revoked", () => {
  test("is rejected there by each operation", async () => {
    await promote(hub);
    const send = ({ line, body }: SampleRequest) => hub.request(line("acme"), { token: "hf_other", body });
    for (const request of organizationRequests) expect((await send(request)).status, request.operationId).toBe(200);
    await revoke(hub, "hf_other");
    const error = expect.stringMatching(/token to "acme" was revoked/);
    for (const request of organizationRequests) {
      expect(await send(request), request.operationId).toMatchObject({ status: 403, body: { error } });
    }
    // Other tokens of the user, and other organizations, are not affected.
    await revoke(hub, "hf_read");
    const elsewhere = ["/api/organizations/enterprise-org/members", "/api/settings/webhooks", "/api/notifications"];
    for (const token of ["hf_other", "hf_read", "hf_local", "hf_fine"]) {
      for (const path of elsewhere) expect((await hub.request(`GET ${path}`, { token })).status, path).toBe(200);
      const inAcme = await hub.request("GET /api/organizations/acme/members", { token });
      expect(inAcme.status, token).toBe(token === "hf_other" || token === "hf_read" ? 403 : 200);
    }
    // A token can revoke itself.
    await revoke(hub, "hf_local");
    expect((await hub.request(`POST ${pathOf("acme")}`, { body: { token: "hf_local" } })).status).toBe(403);
  });
});

describe("Revoking a token", () => {
  test("requires a token of a member", async () => {
    for (const token of ["other", "Bearer hf_other", "HF_OTHER", "0123456789abcdef01234567"]) {
      const { status, body } = await hub.request(`POST ${pathOf("acme")}`, { body: { token } });
      expect({ status, body }).toEqual({ status: 400, body: { error: expect.stringMatching(/^token: .*"hf_"/) } });
    }
    for (const [organization, token] of [
      ["acme", "hf_nobody"],
      ["acme", "hf_"],
      ["enterprise-org", "hf_other"],
    ] as const) {
      const events = () => auditEvents(hub, { organization, type: revoked });
      const before = await events();
      const { status, body } = await hub.request(`POST ${pathOf(organization)}`, { body: { token } });
      const error = `No member of "${organization}" has this token.`;
      expect({ status, body }).toEqual({ status: 404, body: { error } });
      expect(await events()).toEqual(before);
    }
  });

  test("accepts its id, which the token settings and the audit log show, since 2026-08-12", async () => {
    const { text } = await hub.request("GET /settings/tokens", { token: null });
    const [, tokenId = ""] = /^hf_other +([0-9a-f]{24}) /m.exec(text) ?? [];
    const path = `/api/organizations/acme/settings/tokens/${tokenId}/revoke`;
    const inAcme = async () => (await hub.request("GET /api/organizations/acme/members", { token: "hf_other" })).status;
    expect((await hub.request(`POST ${path}`, { token: "hf_other" })).status).toBe(403);
    expect(await inAcme()).toBe(200);
    for (const _again of [1, 2]) expect(await hub.request(`POST ${path}`)).toMatchObject({ status: 200, body: {} });
    expect(await inAcme()).toBe(403);
    const [event, ...earlier] = await auditEvents(hub, { organization: "acme", type: revoked });
    expect(event).toMatchObject({
      ...{ author: { user: "local-user" }, data: { tokenId } },
      message: "Revoked the access of a token of other-user",
    });
    expect(earlier.filter(({ data }) => JSON.stringify(data ?? "").includes(tokenId))).toEqual([]);
  });
});

describe("The value of a token to revoke", () => {
  const planted = "hf_Planted-t0ken-77c1";

  test("is in no response, log line, page or state file", async () => {
    const state = stateFile();
    const hub = await openLocalHub({ state });
    const asked = [
      await hub.request(`POST ${pathOf("acme")}`, { body: { token: planted } }),
      await hub.request(`POST ${pathOf("acme")}`, { body: { token: `Bearer ${planted}` } }),
      await hub.request(`POST ${pathOf("acme")}`, { body: { token: [planted], other: planted } }),
      await hub.request(`POST ${pathOf("acme")}`, { text: `{"token":"${planted}` }),
      await hub.request(`POST ${pathOf("nobody")}`, { body: { token: planted } }),
      await hub.request(`POST ${pathOf("acme")}`, { token: planted, body: { token: planted } }),
    ];
    expect(asked.map(({ status }) => status)).toEqual([404, 400, 400, 400, 404, 401]);
    const targets = ["/", "/openapi.json", "/settings/tokens", "/_local/webhooks", "/_local/jobs", "/_local/settings"];
    const read = await Promise.all(targets.map((target) => hub.request(`GET ${target}`, { token: null })));
    const exported = await hub.request("GET /api/organizations/acme/audit-log/export");
    for (const { text, headers } of [...asked, ...read, exported]) {
      expect(holdsSecret([text, [...headers]], planted), text.slice(0, 200)).toBe(false);
    }
    expect(holdsSecret(hub.log.lines, planted)).toBe(false);
    await hub.hub.close();
    expect(filesBeside(state).some((bytes) => bytes.includes(planted))).toBe(false);
  });

  test("is not stored even if it is a known token, which stays revoked", async () => {
    const state = stateFile();
    const hub = await openLocalHub({ state });
    await revoke(hub, "hf_other");
    const exported = await hub.request("GET /api/organizations/acme/audit-log/export");
    expect(exported.text).not.toContain("hf_other");
    expect(hub.log.text()).not.toContain("hf_other");
    const again = await restart(hub, { state });
    expect((await again.request("GET /api/organizations/acme/members", { token: "hf_other" })).status).toBe(403);
    await again.hub.close();
    expect(filesBeside(state).some((bytes) => bytes.includes("hf_other"))).toBe(false);
    expect(filesBeside(state).some((bytes) => bytes.includes("other-user"))).toBe(true);
  });
});

/** Returns the contents of a state file and the files next to it. */
function filesBeside(state: string): Buffer[] {
  const folder = dirname(state);
  return readdirSync(folder).map((file) => readFileSync(join(folder, file)));
}

test("The SCIM configuration of an organization contains its own address, and the features of the Hub", async () => {
  const path = "/api/organizations/acme/scim/v2/ServiceProviderConfig";
  const [supported, missing] = [{ supported: true }, { supported: false }];
  expect((await hub.request(`GET ${path}`)).body).toMatchObject({
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
    ...{ patch: supported, filter: supported, bulk: missing, changePassword: missing, sort: missing, etag: missing },
    authenticationSchemes: [{ type: "oauthbearertoken" }],
    meta: { resourceType: "ServiceProviderConfig", location: hub.url + path },
  });
});

describe("Network security", () => {
  const pathOf = (organization: string) => `/api/organizations/${organization}/settings/network-security`;

  const unchanged = {
    enforceAuth: false,
    enforceIpRestriction: false,
    highRateLimits: false,
    ipRanges: [],
    blockedContents: [],
    allowedContents: [],
    keepReposMetadataVisible: false,
    blockedUrls: [],
    allowedUrls: [],
  };

  describe("The network security of an organization", () => {
    test("has the six fields of the specification and the later ones from the start, and one organization has pending rate limits", async () => {
      const read = async (organization: string) => (await hub.request(`GET ${pathOf(organization)}`)).body;
      expect(await read("acme")).toEqual({ ...unchanged, highRateLimits: "pending" });
      for (const organization of ["enterprise-org", "team-org", "free-org"]) {
        expect(await read(organization), organization).toEqual(unchanged);
      }
    });

    test("is changed field by field, and read back", async () => {
      const path = pathOf("team-org");
      const changes = [
        { ipRanges: ["192.0.2.0/24", "2001:db8::/32"], enforceIpRestriction: true },
        { enforceAuth: true },
        { highRateLimits: true, blockedUrls: ["/settings"], allowedUrls: ["/datasets", "/models"] },
        { ipRanges: ["0.0.0.0/0"], blockedUrls: [] },
        { blockedContents: [{ resource: "model", scope: "acme/*" }], keepReposMetadataVisible: true },
        { allowedContents: [{ resource: "*", scope: "acme/reviews" }], blockedContents: [] },
        {},
      ];
      let expected: object = unchanged;
      for (const body of changes) {
        expected = { ...expected, ...body };
        expect((await hub.request(`PATCH ${path}`, { body })).body).toEqual(expected);
        expect((await hub.request(`GET ${path}`, { token: "hf_read" })).body).toEqual(expected);
      }
      expect((await hub.request(`GET ${pathOf("free-org")}`)).body).toEqual(unchanged);
    });

    test("rejects an empty list of ranges, as hub-api.md requires", async () => {
      const answer = await hub.request(`PATCH ${pathOf("team-org")}`, { body: { ipRanges: [] } });
      expect([answer.status, answer.body]).toEqual([400, { error: "ipRanges: expected at least one item" }]);
    });

    test("of a state file from an earlier release also has the later fields", () => {
      const store = openMemoryStore();
      const { blockedContents: _1, allowedContents: _2, keepReposMetadataVisible: _3, ...earlier } = unchanged;
      const record = { ...earlier, enforceAuth: true };
      store.networkSecurity.put({ owner: "acme", id: "network-security", record });
      expect(getNetworkSecurity(store, "acme")).toEqual({ ...unchanged, enforceAuth: true });
    });

    test("adds its changes to the audit log, but not an update that changes nothing", async () => {
      const events = () => auditEvents(hub, { organization: "team-org", type: "org.update_settings" });
      const before = await events();
      const changes = { enforceAuth: true, ipRanges: ["192.0.2.0/24"], highRateLimits: false };
      await hub.request(`PATCH ${pathOf("team-org")}`, { body: changes, headers: { "user-agent": "a-browser" } });
      await hub.request(`PATCH ${pathOf("team-org")}`, { body: changes });
      await hub.request(`PATCH ${pathOf("team-org")}`, { body: {} });
      const [event, ...others] = await events();
      expect(others).toEqual(before);
      expect(event).toMatchObject({
        author: { user: "local-user" },
        data: { enforceAuth: true, ipRanges: ["192.0.2.0/24"] },
        message: "Changed the network security: enforceAuth, ipRanges",
        userAgent: "a-browser",
      });
      expect(event?.data).not.toHaveProperty("highRateLimits");
    });
  });
});
