import { describe, expect, test } from "vitest";
import { whoami } from "../../../src/hub/account.ts";
import { deriveTokenId, developmentTokens } from "../../../src/local-hub/accounts.ts";
import { openLocalHub, shareLocalHub, type TestHub } from "../support/hub.ts";

const shared = await shareLocalHub();

async function getWhoami(hub: TestHub, token = "hf_local") {
  const { status, body, text } = await hub.request("GET /api/whoami-v2", { token });
  expect(status, text).toBe(200);
  return whoami.parse(body);
}

describe("whoami", () => {
  test("returns the user and the role of a token", async () => {
    for (const { token, user, tokenRole } of developmentTokens) {
      const answer = await getWhoami(shared, token);
      expect(answer).toMatchObject({ type: "user", name: user, auth: { accessToken: { role: tokenRole } } });
      expect(answer.auth.type).toBe("access_token");
      expect(JSON.stringify(answer)).not.toContain(token);
    }
  });

  test("returns the organizations of the user, their plans, and the role in each", async () => {
    const orgs = (await getWhoami(shared)).orgs.map(({ name, plan, roleInOrg }) => ({ name, plan, roleInOrg }));
    expect(orgs).toEqual([
      { name: "acme", plan: "plus", roleInOrg: "admin" },
      { name: "enterprise-org", plan: "enterprise", roleInOrg: "admin" },
      { name: "team-org", plan: "team", roleInOrg: "admin" },
      { name: "free-org", plan: undefined, roleInOrg: "admin" },
    ]);
    const [acme, ...others] = (await getWhoami(shared, "hf_other")).orgs;
    expect(others).toEqual([]);
    expect(acme).toMatchObject({ name: "acme", roleInOrg: "read" });
    expect(acme?.resourceGroups).toEqual([{ id: expect.any(String), name: "Reviews", role: "contributor" }]);
  });

  test("returns the place where the token was revoked", async () => {
    const hub = await openLocalHub();
    await hub.request(`POST /api/organizations/acme/settings/tokens/${deriveTokenId("hf_other")}/revoke`);
    const [acme] = (await getWhoami(hub, "hf_other")).orgs;
    expect(acme?.securityRestrictions).toEqual(["token-revoked"]);
    expect((await getWhoami(hub)).orgs[0]).not.toHaveProperty("securityRestrictions");
  });

  test("returns the permissions of a fine-grained token only", async () => {
    const { auth } = await getWhoami(shared, "hf_fine");
    expect(auth.accessToken?.fineGrained?.scoped).toMatchObject([{ entity: { name: "local-user", type: "user" } }]);
    expect((await getWhoami(shared)).auth.accessToken).not.toHaveProperty("fineGrained");
  });
});
