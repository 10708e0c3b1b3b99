import type { Bound } from "../bounds.ts";
import { array, boolean, number, object, objectBody, required, text } from "../fields.ts";

/** What a SCIM interface says of itself. */
export const scimConfigBody = {
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
  documentationUri: "https://acme.example/scim",
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: 100 },
  changePassword: { supported: false },
  sort: { supported: false },
};

/** What hub-api.md says of the answer of GET /api/organizations/{name}/scim/v2/ServiceProviderConfig. */
export const scimConfigBounds: Bound[] = [
  ...required({
    schemas: array,
    "schemas[0]": text,
    documentationUri: text,
    patch: object,
    "patch.supported": boolean,
    bulk: object,
    "bulk.supported": boolean,
    "bulk.maxOperations": number,
    "bulk.maxPayloadSize": number,
    filter: object,
    "filter.supported": boolean,
    "filter.maxResults": number,
    changePassword: object,
    "changePassword.supported": boolean,
    sort: object,
  }),
  {
    rule: "what sort holds is not shown",
    at: "sort",
    accepted: [{}, { supported: true }, { anything: [1] }],
    refused: [],
  },
  {
    rule: "the fields after changePassword are not shown",
    at: "etag",
    accepted: [undefined, null, { supported: true }, "x"],
    refused: [],
  },
  {
    rule: "the fields after changePassword are not shown",
    at: "authenticationSchemes",
    accepted: [[], [{ type: "oauthbearertoken" }]],
    refused: [],
  },
  objectBody,
];
