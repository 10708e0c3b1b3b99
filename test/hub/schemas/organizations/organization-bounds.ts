import type { Bound } from "../bounds.ts";
import { noOtherFields, objectBody, otherFieldsIgnored } from "../fields.ts";

/** What hub-api.md says of the body of POST /api/organizations/{name}/settings/tokens/revoke. */
export const tokenRevocationBounds: Bound[] = [
  {
    rule: "is a token, which begins with the prefix of the service, and required",
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

/** What hub-api.md says of the answer of GET /api/organizations/{name}/avatar. */
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
