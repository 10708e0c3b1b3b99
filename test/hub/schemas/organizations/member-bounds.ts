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

/** A member with all that is told of one. */
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

/** What hub-api.md says of a member of an organization. */
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

/** A change of a role with all that it may hold. */
export const memberRoleBody = {
  role: "write",
  resourceGroups: [{ id: "0123456789abcdef01234567", role: "read" }],
};

/** What hub-api.md says of the body of PUT /api/organizations/{name}/members/{username}/role. */
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
