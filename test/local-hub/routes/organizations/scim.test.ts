import { describe, expect, test } from "vitest";
import { openLocalHub } from "../../support/hub.ts";

const pathOf = (organization: string) => `/api/organizations/${organization}/scim/v2/ServiceProviderConfig`;

describe("The SCIM configuration of an organization", () => {
  test("is returned in the format of RFC 7643, with every subfield", async () => {
    const hub = await openLocalHub();
    const { status, body } = await hub.request(`GET ${pathOf("acme")}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
      documentationUri: expect.stringMatching(/^https:\/\/huggingface\.co\/docs\/hub\/.+/),
      patch: { supported: true },
      bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
      filter: { supported: true, maxResults: expect.any(Number) },
      changePassword: { supported: false },
      sort: { supported: false },
      etag: { supported: false },
      authenticationSchemes: [
        {
          type: "oauthbearertoken",
          name: expect.stringMatching(/./),
          description: expect.stringMatching(/./),
          specUri: expect.stringMatching(/^https:/),
          documentationUri: expect.stringMatching(/^https:/),
        },
      ],
      meta: { resourceType: "ServiceProviderConfig", location: `${hub.url}${pathOf("acme")}` },
    });
  });

  test("is only returned to an admin, and only with a token that can write to the organization", async () => {
    const hub = await openLocalHub();
    const status = async (token: string) => (await hub.request(`GET ${pathOf("acme")}`, { token })).status;
    expect(await status("hf_local")).toBe(200);
    for (const token of ["hf_read", "hf_fine", "hf_other"]) expect(await status(token), token).toBe(403);
    await hub.request("PUT /api/organizations/acme/members/other-user/role", { body: { role: "write" } });
    expect(await status("hf_other")).toBe(403);
    await hub.request("PUT /api/organizations/acme/members/other-user/role", { body: { role: "admin" } });
    expect(await status("hf_other")).toBe(200);
  });

  test("is only returned for Enterprise Plus, and the error names an organization with that plan", async () => {
    const hub = await openLocalHub();
    for (const organization of ["free-org", "team-org", "enterprise-org"]) {
      const { status, body } = await hub.request(`GET ${pathOf(organization)}`);
      expect({ status, body }).toEqual({
        status: 403,
        body: { error: expect.stringMatching(/Enterprise Plus.* Use the organization acme\.$/) },
      });
    }
    expect((await hub.request(`GET ${pathOf("nobody")}`)).status).toBe(404);
  });
});
