import { once } from "node:events";
import { get } from "node:http";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type OrganizationMember, organizationMember } from "../../../../src/hub/organizations/organizations.ts";
import { type Answer, openLocalHub, shareLocalHub } from "../../support/hub.ts";

const acme = "/api/organizations/acme/members";
/** Only reads and refused requests. */
const hub = await shareLocalHub();

function members({ status, body, text }: Answer): OrganizationMember[] {
  expect(status, text).toBe(200);
  return z.array(organizationMember).parse(body);
}

const users = z.array(z.object({ user: z.string() }));

function names({ status, body, text }: Answer): string[] {
  expect(status, text).toBe(200);
  return users.parse(body).map(({ user }) => user);
}

/** Returns the path of the next page. */
function nextOf({ headers }: Answer): string | undefined {
  const link = headers.get("link");
  if (link === null) return undefined;
  const [, address = ""] = /^<([^<>]+)>; rel="next"$/.exec(link) ?? [];
  expect(address.startsWith(`${hub.url}/api/`), link).toBe(true);
  return address.slice(hub.url.length);
}

/** Returns the pages that follow a page, in order. */
async function pagesFrom(target: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let next: string | undefined = target; next !== undefined; ) {
    const answer = await hub.request(`GET ${next}`);
    pages.push(names(answer));
    next = nextOf(answer);
  }
  return pages;
}

describe("The members of an organization", () => {
  test("are returned in three pages, sorted by name, without duplicates", async () => {
    const pages = await pagesFrom(acme);
    expect(pages.map(({ length }) => length)).toEqual([500, 500, 200]);
    const all = pages.flat();
    expect(all).toEqual([...new Set(all)].sort());
    expect(all).toEqual(names(await hub.request(`GET ${acme}?limit=10000`)));
    expect(all).toEqual(expect.arrayContaining(["local-user", "other-user", "ada-adams"]));
  });

  test("are returned in pages of any size, and the last one has no next page", async () => {
    expect((await pagesFrom(`${acme}?limit=1199`)).map(({ length }) => length)).toEqual([1_199, 1]);
    expect((await pagesFrom(`${acme}?limit=1200`)).map(({ length }) => length)).toEqual([1_200]);
    expect((await pagesFrom(`${acme}?limit=600`)).map(({ length }) => length)).toEqual([600, 600]);
    expect((await pagesFrom("/api/organizations/free-org/members")).flat()).toEqual(["local-user"]);
  });

  test("can be filtered across pages: the next link keeps the filters and the limit", async () => {
    const first = await hub.request(`GET ${acme}?search=${encodeURIComponent("Radia T")}&limit=10`);
    expect(nextOf(first)).toBeUndefined();
    const pages = await pagesFrom(`${acme}?limit=10&search=alan%20`);
    expect(pages.length).toBeGreaterThan(3);
    expect(pages.slice(0, -1).every(({ length }) => length === 10)).toBe(true);
    expect(pages.flat()).toEqual(
      names(await hub.request(`GET ${acme}?limit=10000`)).filter((user) => /^alan-/.test(user)),
    );
  });

  test("continue after a cursor even if its member is gone, and end after the last one", async () => {
    const following = async (user: string) =>
      names(await hub.request(`GET ${acme}?limit=10&cursor=${Buffer.from(user).toString("base64url")}`));
    const all = names(await hub.request(`GET ${acme}?limit=10000`));
    expect(await following("ada-adams")).toEqual(all.slice(1, 11));
    expect(await following("ada-adams1")).toEqual(all.slice(1, 11));
    expect(await following(all.at(-1) ?? "")).toEqual([]);
  });

  test.each(["", "@@", "YWRh=", "YWRhL", "%FF", "_w", "ada-adams"])(
    "are rejected with an error that names cursor for an invalid one: %j",
    async (cursor) => {
      const { status, body } = await hub.request(`GET ${acme}?cursor=${cursor}`);
      expect({ status, body }).toEqual({ status: 400, body: { error: expect.stringMatching(/^cursor: /) } });
    },
  );

  test("have the next page at the requested address, because a client sends its token to one address only", async () => {
    const host = `localhost:${new URL(hub.url).port}`;
    const request = get(`${hub.url}${acme}?limit=10`, { headers: { host, authorization: "Bearer hf_local" } });
    const [response] = await once(request, "response");
    expect(response.headers.link).toMatch(`<http://${host}${acme}?limit=10&cursor=`);
    response.resume();
    await once(response, "end");
  });
});

describe("A search for members", () => {
  test.each([
    ["ada-adams", ["ada-adams", "ada-adams2", "ada-adams3"]],
    ["ADA-ADAMS", ["ada-adams", "ada-adams2", "ada-adams3"]],
    ["a-adams2", ["ada-adams2", "barbara-adams2", "radia-adams2"]],
    ["aDA aDAMS", ["ada-adams", "ada-adams2", "ada-adams3"]],
    ["Adams2", 20],
    ["Other U", ["other-user"]],
    ["nobody", []],
    ["%", []],
    ["a.a", []],
    ["", 1_200],
  ])("matches a part of the name or the full name, in any case: %j", async (search, found) => {
    const users = names(await hub.request(`GET ${acme}?limit=10000&search=${encodeURIComponent(search)}`));
    if (typeof found === "number") expect(users).toHaveLength(found);
    else expect(users).toEqual(found);
  });

  test.each([
    ["ada-adams@acme.example", ["ada-adams"]],
    ["Ada-ADAMS@Acme.Example", ["ada-adams"]],
    ["ada-adams@acme.examples", []],
    ["a-adams@acme.example", []],
    ["ada-adams@team-org.example", []],
  ])("matches a complete e-mail address, in any case: %s", async (email, found) => {
    expect(names(await hub.request(`GET ${acme}?email=${email}`))).toEqual(found);
  });

  test("matches both filters", async () => {
    expect(names(await hub.request(`GET ${acme}?email=ada-adams@acme.example&search=ada`))).toEqual(["ada-adams"]);
    expect(names(await hub.request(`GET ${acme}?email=ada-adams@acme.example&search=alan`))).toEqual([]);
  });

  test("matches e-mail addresses only for users who can see them", async () => {
    const status = async (organization: string, token: string) =>
      (await hub.request(`GET /api/organizations/${organization}/members?email=a@b.example`, { token })).status;
    expect(await status("acme", "hf_local")).toBe(200);
    expect(await status("acme", "hf_read")).toBe(200);
    expect(await status("team-org", "hf_local")).toBe(200);
    expect(await status("acme", "hf_other")).toBe(403);
    expect(await status("team-org", "hf_other")).toBe(403);
    expect(await status("free-org", "hf_local")).toBe(403);
  });
});

const forAll = ["_id", "avatarUrl", "fullname", "isFollowing", "isPro", "type", "user"];
const forMembers = [...forAll, "isExternalCollaborator", "resourceGroups", "role"];
const forAdmins = [...forMembers, "twoFaEnabled"];

describe("A returned member", () => {
  test.each([
    { who: "an admin of an Enterprise Plus organization", organization: "acme", token: "hf_local", email: true },
    { who: "an admin with a read token", organization: "acme", token: "hf_read", email: true },
    { who: "an admin of an Enterprise organization", organization: "enterprise-org", token: "hf_local", email: true },
    { who: "an admin of a Team organization", organization: "team-org", token: "hf_local", email: true },
    { who: "an admin of a Free organization", organization: "free-org", token: "hf_local", email: false },
  ])("contains the fields for $who", async ({ organization, token, email }) => {
    const [member] = members(await hub.request(`GET /api/organizations/${organization}/members`, { token }));
    expect(Object.keys(member ?? {}).sort()).toEqual([...forAdmins, ...(email ? ["verifiedEmail"] : [])].sort());
  });

  test.each([
    { who: "another member", organization: "acme", fields: forMembers },
    { who: "a user outside the organization", organization: "enterprise-org", fields: forAll },
  ])("contains the fields for $who", async ({ organization, fields }) => {
    const told = members(await hub.request(`GET /api/organizations/${organization}/members`, { token: "hf_other" }));
    for (const member of told) expect(Object.keys(member).sort()).toEqual([...fields].sort());
  });

  test("contains only public fields for a member without access", async () => {
    const hub = await openLocalHub();
    await hub.request(`PUT ${acme}/other-user/role`, { body: { role: "no_access" } });
    const [member] = members(await hub.request(`GET ${acme}`, { token: "hf_other" }));
    expect(Object.keys(member ?? {}).sort()).toEqual(forAll);
  });

  test("contains only the resource groups that the caller can access", async () => {
    const groupsOf = async (token: string) =>
      new Set(
        members(await hub.request(`GET ${acme}?limit=10000`, { token })).flatMap(({ resourceGroups = [] }) =>
          resourceGroups.map(({ name }) => name),
        ),
      );
    expect(await groupsOf("hf_local")).toEqual(new Set(["Reviews", "People", "Experiments"]));
    expect(await groupsOf("hf_other")).toEqual(new Set(["Reviews"]));
  });

  test("contains the user, and the roles in the resource groups", async () => {
    const { body: groups } = await hub.request("GET /api/organizations/acme/resource-groups");
    const [member] = members(await hub.request(`GET ${acme}?search=ada-adams`));
    expect(member).toMatchObject({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      avatarUrl: `${hub.url}/avatars/ada-adams.svg`,
      fullname: "Ada Adams",
      user: "ada-adams",
      role: "admin",
      isExternalCollaborator: false,
      verifiedEmail: "ada-adams@acme.example",
      resourceGroups: [
        { name: "Reviews", numUsers: 4, role: "admin" },
        { name: "People", numUsers: 2, role: "admin" },
      ],
    });
    for (const { id, name } of member?.resourceGroups ?? []) {
      expect(groups).toContainEqual(expect.objectContaining({ id, name }));
    }
    expect(members(await hub.request(`GET ${acme}?search=other-user`))[0]?.resourceGroups).toMatchObject([
      { name: "Reviews", numUsers: 4, role: "contributor" },
    ]);
  });

  test("differs between members, and is the same in every local Hub", async () => {
    const again = await openLocalHub();
    const all = members(await hub.request(`GET ${acme}?limit=10000`));
    for (const field of ["isPro", "twoFaEnabled", "isExternalCollaborator"] as const) {
      expect(new Set(all.map((member) => member[field])), field).toEqual(new Set([true, false]));
    }
    const roles = new Set(all.map(({ role }) => role));
    expect(roles).toEqual(new Set(["admin", "write", "contributor", "read", "no_access", "reviewer"]));
    expect(new Set(all.map(({ _id }) => _id)).size).toBe(1_200);
    for (const { isExternalCollaborator, verifiedEmail, user } of all) {
      expect(verifiedEmail).toBe(isExternalCollaborator ? null : `${user}@acme.example`);
    }
    const elsewhere = all.map((member) => ({ ...member, avatarUrl: member.avatarUrl.replace(hub.url, again.url) }));
    expect(members(await again.request(`GET ${acme}?limit=10000`))).toEqual(elsewhere);
  });

  test("does not exist for an unknown organization", async () => {
    for (const name of ["nobody", "ACME", "local-user", "__proto__"]) {
      expect((await hub.request(`GET /api/organizations/${name}/members`)).status, name).toBe(404);
    }
  });
});
