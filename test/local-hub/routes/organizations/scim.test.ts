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
});
