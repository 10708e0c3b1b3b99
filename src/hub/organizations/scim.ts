import * as z from "zod/mini";
import type { Operations } from "../operation.ts";
import { organizationName } from "../schemas.ts";

const isSupported = z.boolean();

/** The SCIM configuration of an organization. The Hub does not document the content of `sort` or additional fields. */
export const scimConfig = z.looseObject({
  schemas: z.array(z.string()),
  documentationUri: z.string(),
  patch: z.strictObject({ supported: isSupported }),
  bulk: z.strictObject({ supported: isSupported, maxOperations: z.number(), maxPayloadSize: z.number() }),
  filter: z.strictObject({ supported: isSupported, maxResults: z.number() }),
  changePassword: z.strictObject({ supported: isSupported }),
  sort: z.looseObject({}),
});

/** The SCIM configuration of an organization. */
export type ScimConfig = z.output<typeof scimConfig>;

/** The operation on SCIM (docs/reference/hub-api.md, Organizations). */
export const scimOperations = {
  config: {
    method: "get",
    path: "/api/organizations/{name}/scim/v2/ServiceProviderConfig",
    operationId: "getScimConfig",
    summary: "Read the SCIM configuration of an organization",
    request: { params: organizationName },
    response: scimConfig,
  },
} as const satisfies Operations;
