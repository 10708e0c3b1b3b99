import type { Bound } from "../bounds.ts";
import {
  array,
  boolean,
  noOtherFields,
  object,
  objectBody,
  objectId,
  oneOf,
  optional,
  repoTypes,
  required,
  role,
  text,
} from "../fields.ts";

/** Whether new members join: alike in a request and in an answer. */
const autoJoin: Bound[] = [
  {
    rule: "is { enabled: true, role } or { enabled: false }, if given",
    at: "autoJoin",
    accepted: [undefined, { enabled: false }, ...role.accepted.map((value) => ({ enabled: true, role: value }))],
    refused: [
      ...object.refused.map((value) => ({ value })),
      ...[{}, { role: "read" }, { enabled: null }, { enabled: "true", role: "read" }, { enabled: 1 }].map((value) => ({
        value,
        names: "autoJoin.enabled",
      })),
      { value: { enabled: true }, names: "autoJoin.role" },
      ...role.refused.map((value) => ({ value: { enabled: true, role: value }, names: "autoJoin.role" })),
      { value: { enabled: false, role: "read" }, names: "autoJoin.role" },
      { value: { enabled: true, role: "read", users: [] }, names: "autoJoin.users" },
      { value: { enabled: false, users: [] }, names: "autoJoin.users" },
    ],
  },
];

/** A resource group that is to be made, with all that it may hold. */
export const resourceGroupRequestBody = {
  name: "Research",
  description: "Who does research.",
  users: [{ user: "ada", role: "write" }],
  repos: [{ type: "dataset", name: "acme/data" }],
  autoJoin: { enabled: true, role: "read" },
};

/** What hub-api.md says of the body of POST /api/organizations/{name}/resource-groups. */
export const resourceGroupRequestBounds: Bound[] = [
  {
    rule: "is a string of 1 to 200 characters, and required",
    at: "name",
    accepted: ["x", " ", "é", "x".repeat(199), "x".repeat(200), "😀".repeat(200)],
    refused: [undefined, null, "", 1, {}, ["x"], "x".repeat(201), "😀".repeat(201), "x".repeat(5_000)].map((value) => ({
      value,
    })),
  },
  {
    rule: "is a string of up to 500 characters, if given",
    at: "description",
    accepted: [undefined, "", "x", "x".repeat(499), "x".repeat(500), "😀".repeat(500)],
    refused: [null, 1, {}, ["x"], "x".repeat(501), "😀".repeat(501), "x".repeat(5_000)].map((value) => ({ value })),
  },
  ...optional({ users: array, repos: array }),
  ...required({
    "users[0]": object,
    "users[0].user": text,
    "users[0].role": role,
    "repos[0]": object,
    "repos[0].type": oneOf(repoTypes),
  }),
  {
    rule: "is owner/name, and required",
    at: "repos[0].name",
    accepted: ["acme/data", "a/b"],
    refused: [undefined, null, "", "acme", "acme/", "/data", "acme/data/x", 1].map((value) => ({ value })),
  },
  ...autoJoin,
  ...noOtherFields(["", "users[0]", "repos[0]"]),
  ...["id", "_id", "users[0].name", "users[0].fullname", "repos[0].private", "repos[0].addedBy"].map((at) => ({
    rule: "what only an answer has is not taken",
    at,
    accepted: [undefined],
    refused: [{ value: "0".repeat(24) }, { value: false }],
  })),
  objectBody,
];

/** A resource group with all that it may hold. */
export const resourceGroupBody = {
  id: "0123456789abcdef01234567",
  name: "Research",
  description: "Who does research.",
  autoJoin: { enabled: true, role: "read" },
  users: [
    {
      type: "user",
      _id: "0123456789abcdef01234567",
      fullname: "Ada",
      name: "ada",
      avatarUrl: "/avatars/ada.svg",
      role: "admin",
      addedBy: "bob",
    },
  ],
  repos: [{ name: "acme/data", type: "dataset", private: true, addedBy: "bob" }],
};

/** What hub-api.md says of a resource group as it is answered. */
export const resourceGroupBounds: Bound[] = [
  ...required({
    id: objectId,
    name: text,
    users: array,
    "users[0]": object,
    "users[0].type": oneOf(["user"]),
    "users[0]._id": objectId,
    "users[0].fullname": text,
    "users[0].name": text,
    "users[0].avatarUrl": text,
    "users[0].role": role,
    repos: array,
    "repos[0]": object,
    "repos[0].name": text,
    "repos[0].type": oneOf(repoTypes),
    "repos[0].private": boolean,
  }),
  ...optional({ "users[0].addedBy": text, "repos[0].addedBy": text }),
  {
    rule: "is a string or null, if given",
    at: "description",
    accepted: [undefined, null, "", "x", "x".repeat(5_000)],
    refused: [{ value: 1 }, { value: {} }, { value: ["x"] }],
  },
  ...autoJoin,
  ...noOtherFields(["", "users[0]", "repos[0]"]),
  objectBody,
];
