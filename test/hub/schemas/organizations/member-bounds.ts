import type { Bound } from "../bounds.ts";
import {
  array,
  boolean,
  noOtherFields,
  number,
  object,
  objectBody,
  objectId,
  objectIdInEitherCase,
  oneOf,
  optional,
  otherFieldsIgnored,
  required,
  role,
  text,
} from "../fields.ts";

/** A member with every field. */
export const memberBody = {
  _id: "0123456789abcdef01234567",
  avatarUrl: "/avatars/ada.svg",
  fullname: "Ada",
  isPro: false,
  user: "ada",
  type: "user",
  isFollowing: true,
  role: "admin",
  resourceGroups: [{ name: "Research", id: "group-1", numUsers: 2, role: "read" }],
  twoFaEnabled: true,
  verifiedEmail: "ada@acme.example",
  isExternalCollaborator: false,
};

/** The rules of the specification for a member of an organization. */
export const memberBounds: Bound[] = [
  ...required({
    _id: objectId,
    avatarUrl: text,
    fullname: text,
    isPro: boolean,
    user: text,
    type: oneOf(["user"]),
    "resourceGroups[0]": object,
    "resourceGroups[0].name": text,
    "resourceGroups[0].id": text,
    "resourceGroups[0].numUsers": number,
    "resourceGroups[0].role": role,
  }),
  ...optional({
    isFollowing: boolean,
    role,
    resourceGroups: array,
    twoFaEnabled: boolean,
    isExternalCollaborator: boolean,
  }),
  {
    rule: "is a string or null, if given",
    at: "verifiedEmail",
    accepted: [undefined, null, "", "ada@acme.example"],
    refused: [{ value: 1 }, { value: false }, { value: ["ada@acme.example"] }],
  },
  ...noOtherFields(["", "resourceGroups[0]"]),
  objectBody,
];

/** A change of a role with every field. */
export const memberRoleBody = {
  role: "write",
  resourceGroups: [{ id: "0123456789abcdef01234567", role: "read" }],
};

/** The rules of the specification for the body of PUT /api/organizations/{name}/members/{username}/role. */
export const memberRoleBounds: Bound[] = [
  ...required({
    role,
    "resourceGroups[0]": object,
    "resourceGroups[0].id": objectIdInEitherCase,
    "resourceGroups[0].role": role,
  }),
  ...optional({ resourceGroups: array }),
  ...otherFieldsIgnored(["", "resourceGroups[0]"]),
  objectBody,
];

/** The rules of the specification for the body of POST /api/organizations/{name}/settings/tokens/revoke. */
export const tokenRevocationBounds: Bound[] = [
  {
    rule: "is a token that starts with the prefix of the service, and required",
    at: "token",
    accepted: ["hf_x", "hf_0123456789abcdefABCDEF", `hf_${"x".repeat(500)}`],
    refused: [
      undefined,
      null,
      "",
      "hf",
      "hfx",
      "hf-x",
      "HF_x",
      "Hf_x",
      " hf_x",
      "\nhf_x",
      "Bearer hf_x",
      "api_hf_x",
      1,
      {},
      ["hf_x"],
    ].map((value) => ({ value })),
  },
  ...otherFieldsIgnored([""]),
  objectBody,
];

/** The rules of the specification for the response of GET /api/organizations/{name}/avatar. */
export const avatarBounds: Bound[] = [
  {
    rule: "is a URI, and required",
    at: "avatarUrl",
    accepted: ["https://example.com/a.png", "http://127.0.0.1:5050/avatars/acme.svg?v=1#x"],
    refused: [undefined, null, "", "a.png", "/avatars/acme.svg", "//example.com/a.png", 1, {}].map((value) => ({
      value,
    })),
  },
  ...noOtherFields([""]),
  objectBody,
];

/** The self-description of a SCIM interface. */
export const scimConfigBody = {
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
  documentationUri: "https://acme.example/scim",
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: 100 },
  changePassword: { supported: false },
  sort: { supported: false },
};

/** The rules of the specification for the response of GET /api/organizations/{name}/scim/v2/ServiceProviderConfig. */
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
    rule: "the content of sort is undocumented",
    at: "sort",
    accepted: [{}, { supported: true }, { anything: [1] }],
    refused: [],
  },
  {
    rule: "the fields after changePassword are undocumented",
    at: "etag",
    accepted: [undefined, null, { supported: true }, "x"],
    refused: [],
  },
  {
    rule: "the fields after changePassword are undocumented",
    at: "authenticationSchemes",
    accepted: [[], [{ type: "oauthbearertoken" }]],
    refused: [],
  },
  objectBody,
];
