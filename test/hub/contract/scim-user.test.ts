import { describe, expect, test } from "vitest";
import { scimMatching, scimUser } from "../../../src/hub/contract/organizations/scim.ts";
import { type Bound, casesOf, namedFields } from "./bounds.ts";

/** All that hub-api.md lists. */
const user = {
  userName: "ada",
  name: { givenName: "Ada", familyName: "Lovelace" },
  emails: [{ value: "ada@acme.example" }, { value: "lovelace@acme.example", primary: true }],
  externalId: "00u1",
  id: "5f0c746f7d4d4aab9e2c3d11",
  active: true,
};

const texts: Bound[] = ["userName", "name.givenName", "name.familyName", "externalId", "id"].map((at) => ({
  rule: "a text, if given",
  at,
  accepted: [undefined, "", "Ada", "Ådá 李"],
  refused: [null, 1, true, ["ada"], {}].map((value) => ({ value })),
}));

const bounds: Bound[] = [
  ...texts,
  {
    rule: "the name has two parts",
    at: "name",
    accepted: [undefined, {}, { givenName: "Ada" }, { familyName: "Lovelace" }],
    refused: [
      { value: "Ada Lovelace" },
      { value: null },
      ...["formatted", "middleName", "honorificPrefix"].map((part) => ({
        value: { [part]: "Ada" },
        names: `name.${part}`,
      })),
    ],
  },
  {
    rule: "emails are an array of e-mails",
    at: "emails",
    accepted: [undefined, [], [{ value: "ada@acme.example" }], [{ value: "ada@acme.example", primary: false }]],
    refused: [
      { value: "ada@acme.example" },
      { value: null },
      { value: ["ada@acme.example"], names: "emails[0]" },
      { value: [{}], names: "emails[0].value" },
      { value: [{ value: "ada" }], names: "emails[0].value" },
      { value: [{ value: "ada@acme.example", primary: "true" }], names: "emails[0].primary" },
    ],
  },
  {
    rule: "the types of e-mails are not supported",
    at: "emails[1].type",
    accepted: [undefined],
    refused: ["work", "home", "other", "", null].map((value) => ({ value })),
  },
  {
    rule: "active is a boolean",
    at: "active",
    accepted: [undefined, true, false],
    refused: ["true", "True", 1, null].map((value) => ({ value })),
  },
  ...["displayName", "nickName", "title", "roles", "groups", "phoneNumbers", "password", "username"].map((at) => ({
    rule: "no other attribute is supported",
    at,
    accepted: [undefined],
    refused: [{ value: "x" }],
  })),
  { rule: "a user is an object", at: "", accepted: [{}], refused: [{ value: [] }, { value: "ada" }, { value: null }] },
];

describe("A user of SCIM", () => {
  const { accepted, refused } = casesOf({ bounds, body: user });

  test.each(accepted)("is accepted: $title", ({ body }) => {
    expect(scimUser.parse(body)).toEqual(body);
  });

  test.each(refused)("is refused: $title", ({ body, names }) => {
    const { error } = scimUser.safeParse(body);
    expect(error && namedFields(error)).toEqual([names]);
  });

  test("has the attributes of hub-api.md", () => {
    expect(Object.keys(scimUser.shape).sort()).toEqual(
      ["userName", "name", "emails", "externalId", "id", "active"].sort(),
    );
  });

  test("is matched by externalId, whoever the identity provider is", () => {
    expect(scimMatching.map(({ scimKey }) => scimKey)).toEqual(["externalId", "externalId"]);
    const [directory, others] = scimMatching;
    expect(directory.samlAttribute).toMatch(/objectidentifier$/);
    expect(others).toMatchObject({ identityProvider: "any other", samlAttribute: expect.stringContaining("NameID") });
    expect(scimMatching.every(({ scimKey }) => scimKey in scimUser.shape)).toBe(true);
  });
});
