import { describe, expect, onTestFinished, test } from "vitest";
import { getNetworkSecurity } from "../../../src/local-hub/resources/network-security.ts";
import { openStore } from "../../../src/local-hub/store/store.ts";
import { auditEvents, openLocalHub } from "../support/hub.ts";

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
  test("has all six fields of hub-api.md from the start, those of today beside them, and one organization waits for its rate limits", async () => {
    const hub = await openLocalHub();
    const read = async (organization: string) => (await hub.request(`GET ${pathOf(organization)}`)).body;
    expect(await read("acme")).toEqual({ ...unchanged, highRateLimits: "pending" });
    for (const organization of ["enterprise-org", "team-org", "free-org"]) {
      expect(await read(organization), organization).toEqual(unchanged);
    }
  });

  test("changes field by field, and the next read sees it", async () => {
    const hub = await openLocalHub();
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

  test("does not take an empty list of ranges, as hub-api.md says", async () => {
    const hub = await openLocalHub();
    const answer = await hub.request(`PATCH ${pathOf("team-org")}`, { body: { ipRanges: [] } });
    expect([answer.status, answer.body]).toEqual([400, { error: "ipRanges: give at least one" }]);
  });

  test("ignores a field that there is not", async () => {
    const hub = await openLocalHub();
    const body = { dnsFilter: true, blockedContents: [{ resource: "*", scope: "a", note: "x" }] };
    const answer = await hub.request(`PATCH ${pathOf("team-org")}`, { body });
    expect(answer.body).toEqual({ ...unchanged, blockedContents: [{ resource: "*", scope: "a" }] });
  });

  test("of a state file of an earlier release has the newer fields as well", () => {
    const store = openStore({});
    onTestFinished(() => store.close());
    const { blockedContents: _1, allowedContents: _2, keepReposMetadataVisible: _3, ...earlier } = unchanged;
    const record = { ...earlier, enforceAuth: true };
    store.networkSecurity.put({ owner: "acme", id: "network-security", record });
    expect(getNetworkSecurity(store, "acme")).toEqual({ ...unchanged, enforceAuth: true });
  });

  test("that is pending may be withdrawn", async () => {
    const hub = await openLocalHub();
    const { body } = await hub.request(`PATCH ${pathOf("acme")}`, { body: { highRateLimits: false } });
    expect(body).toEqual(unchanged);
  });

  test("writes what has changed of it into the audit log, and nothing where nothing has", async () => {
    const hub = await openLocalHub();
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

  test("is for admins, and changes with a token that may write to the organization", async () => {
    const hub = await openLocalHub();
    const status = async (method: string, token: string) =>
      (await hub.request(`${method} ${pathOf("acme")}`, { token, ...(method === "PATCH" && { body: {} }) })).status;
    expect([await status("GET", "hf_local"), await status("PATCH", "hf_local")]).toEqual([200, 200]);
    expect([await status("GET", "hf_read"), await status("PATCH", "hf_read")]).toEqual([200, 403]);
    expect([await status("GET", "hf_fine"), await status("PATCH", "hf_fine")]).toEqual([200, 403]);
    expect([await status("GET", "hf_other"), await status("PATCH", "hf_other")]).toEqual([403, 403]);
  });
});
