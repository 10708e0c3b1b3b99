import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { getNetworkSecurity } from "../../../../src/local-hub/resources/organizations/organization.ts";
import { openStore } from "../../../../src/local-hub/store/store.ts";
import { auditEvents, openLocalHub, type TestHub } from "../../support/hub.ts";

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

let hub: TestHub;
beforeEach(async () => {
  hub = await openLocalHub();
});

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

  test("ignores an unknown field", async () => {
    const body = { dnsFilter: true, blockedContents: [{ resource: "*", scope: "a", note: "x" }] };
    const answer = await hub.request(`PATCH ${pathOf("team-org")}`, { body });
    expect(answer.body).toEqual({ ...unchanged, blockedContents: [{ resource: "*", scope: "a" }] });
  });

  test("of a state file from an earlier release also has the later fields", () => {
    const store = openStore({});
    onTestFinished(() => store.close());
    const { blockedContents: _1, allowedContents: _2, keepReposMetadataVisible: _3, ...earlier } = unchanged;
    const record = { ...earlier, enforceAuth: true };
    store.networkSecurity.put({ owner: "acme", id: "network-security", record });
    expect(getNetworkSecurity(store, "acme")).toEqual({ ...unchanged, enforceAuth: true });
  });

  test("can be withdrawn while it is pending", async () => {
    const { body } = await hub.request(`PATCH ${pathOf("acme")}`, { body: { highRateLimits: false } });
    expect(body).toEqual(unchanged);
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
