import type { Bound } from "../bounds.ts";
import {
  array,
  boolean,
  ignoredField,
  noOtherFields,
  object,
  objectBody,
  objectId,
  oneOf,
  optional,
  otherFieldsIgnored,
  repoTypes,
  required,
  role,
  text,
} from "../fields.ts";

/** The rules for `autoJoin`, which a request and a response share except for unknown fields. */
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
      ...oneOf(["all", "read_plus"]).refused.map((scope) => ({
        value: { enabled: true, role: "read", scope },
        names: "autoJoin.scope",
      })),
    ],
  },
  {
    rule: "can set which members join, since 2026-08-17",
    at: "autoJoin",
    accepted: ["all", "read_plus"].map((scope) => ({ enabled: true, role: "read", scope })),
    refused: [],
  },
];

/** A request that creates a resource group, with every field. */
export const resourceGroupRequestBody = {
  name: "Research",
  description: "Who does research.",
  users: [{ user: "ada", role: "write" }],
  repos: [{ type: "dataset", name: "acme/data" }],
  autoJoin: { enabled: true, role: "read" },
};

/** The rules of the specification for the body of POST /api/organizations/{name}/resource-groups. */
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
  ...otherFieldsIgnored(["", "users[0]", "autoJoin"]),
  ...["id", "_id", "users[0].name", "users[0].fullname"].map((at) => ignoredField(at, ["0".repeat(24), false])),
  // hub-api.md, RepoId: no other fields are allowed.
  ...noOtherFields(["repos[0]"]),
  ...["repos[0].private", "repos[0].addedBy"].map((at) => ({
    rule: "the fields of a response are rejected",
    at,
    accepted: [undefined],
    refused: [{ value: "0".repeat(24) }, { value: false }],
  })),
  objectBody,
];

/** A resource group with every field. */
export const resourceGroupBody = {
  id: "0123456789abcdef01234567",
  name: "Research",
  description: "Who does research.",
  autoJoin: { enabled: true, role: "read", scope: "all" },
  spendLimits: { total: 5_000, inferenceProviders: 0, spaces: 1, jobs: 2, endpoints: 3 },
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
  resources: [
    { name: "acme/data", type: "dataset", private: true, addedBy: "bob" },
    {
      type: "collection",
      id: "0123456789abcdef01234567",
      slug: "acme/a-1",
      title: "A",
      private: false,
      addedBy: "bob",
    },
    { type: "blog", id: "0123456789abcdef01234567", slug: "acme/b", title: "B", private: true },
    { type: "job", id: "job-1", name: "sweep" },
    { type: "scheduled-job", id: "job-2", addedBy: "bob" },
  ],
  repos: [{ name: "acme/data", type: "dataset", private: true, addedBy: "bob" }],
};

/** The rules of the specification for a resource group in a response. */
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
    "repos[0]": object,
    "repos[0].name": text,
    "repos[0].type": oneOf(repoTypes),
    "repos[0].private": boolean,
  }),
  ...optional({ "users[0].addedBy": text, "repos[0].addedBy": text }),
  // A Hub from before 2026-07-01 returns repos, a current one resources.
  ...optional({ repos: array, resources: array }),
  ...["resources[0]", "resources[1]", "resources[2]", "resources[3]", "resources[4]"].flatMap((at) =>
    optional({ [`${at}.addedBy`]: text }),
  ),
  ...required({
    "resources[0].name": text,
    "resources[0].private": boolean,
    "resources[1].id": objectId,
    "resources[1].slug": text,
    "resources[1].title": text,
    "resources[1].private": boolean,
    "resources[2].id": objectId,
    "resources[3].id": text,
    "resources[4].id": text,
  }),
  ...optional({ "resources[3].name": text, "resources[4].name": text }),
  ...["total", "inferenceProviders", "spaces", "jobs", "endpoints"].map((name) => ({
    rule: "is an integer of 0 or more, if given",
    at: `spendLimits.${name}`,
    accepted: [undefined, 0, 1, 9007199254740991],
    refused: [null, -1, 0.5, "1"].map((value) => ({ value })),
  })),
  {
    rule: "is a string or null, if given",
    at: "description",
    accepted: [undefined, null, "", "x", "x".repeat(5_000)],
    refused: [{ value: 1 }, { value: {} }, { value: ["x"] }],
  },
  ...autoJoin,
  ...noOtherFields(["", "users[0]", "repos[0]", "autoJoin", "spendLimits", "resources[0]", "resources[1]"]),
  objectBody,
];
