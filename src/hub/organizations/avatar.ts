import * as z from "zod/mini";
import type { Operations } from "../operation.ts";
import { organizationName } from "../schemas.ts";

/** The URL of the avatar of an organization. */
export const organizationAvatar = z.strictObject({ avatarUrl: z.url() });

/** The operation on the avatar of an organization (docs/reference/hub-api.md, Organizations). */
export const avatarOperations = {
  get: {
    method: "get",
    path: "/api/organizations/{name}/avatar",
    operationId: "getOrganizationAvatar",
    summary: "Read the avatar of an organization",
    request: { params: organizationName },
    response: organizationAvatar,
  },
} as const satisfies Operations;
