import { once } from "node:events";
import { get } from "node:http";
import { beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { type OrganizationMember, organizationMember } from "../../../../src/hub/organizations/organizations.ts";
import { resourceGroup } from "../../../../src/hub/organizations/resource-groups.ts";
import { type Answer, auditEvents, openLocalHub, shareLocalHub, type TestHub } from "../../support/hub.ts";
import { openTarget } from "../../support/target.ts";

const acme = "/api/organizations/acme/members";
const avatarPath = "/api/organizations/acme/avatar";
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
    expect((await pagesFrom(`${acme}?limit=600`)).map(({ length }) => length)).toEqual([600, 600]);
    const all = pages.flat();
    expect(all).toEqual([...new Set(all)].sort());
    expect(all).toEqual(names(await hub.request(`GET ${acme}?limit=10000`)));
    expect(all).toEqual(expect.arrayContaining(["local-user", "other-user", "ada-adams"]));
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

  test("are rejected with an error that names cursor for an invalid one", async () => {
    for (const cursor of ["", "@@", "YWRh=", "YWRhL", "%FF", "_w", "ada-adams"]) {
      const { status, body } = await hub.request(`GET ${acme}?cursor=${cursor}`);
      expect({ status, body }).toEqual({ status: 400, body: { error: expect.stringMatching(/^cursor: /) } });
    }
  });

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
  test("matches a part of the name or the full name, in any case", async () => {
    const adas = ["ada-adams", "ada-adams2", "ada-adams3"];
    const rows: [search: string, found: string[] | number][] = [
      ...[...adas.slice(0, 1), "ADA-ADAMS", "aDA aDAMS"].map((search): [string, string[]] => [search, adas]),
      ["a-adams2", ["ada-adams2", "barbara-adams2", "radia-adams2"]],
      ["Adams2", 20],
      ["Other U", ["other-user"]],
      ...["nobody", "%", "a.a"].map((search): [string, string[]] => [search, []]),
      ["", 1_200],
    ];
    for (const [search, found] of rows) {
      const users = names(await hub.request(`GET ${acme}?limit=10000&search=${encodeURIComponent(search)}`));
      expect(typeof found === "number" ? users.length : users, search).toEqual(found);
    }
  });

  test("matches a complete e-mail address, in any case, only for users who can see them", async () => {
    const found = async (email: string, search = "") =>
      names(await hub.request(`GET ${acme}?email=${email}&search=${search}`));
    expect(await found("ada-adams@acme.example")).toEqual(["ada-adams"]);
    expect(await found("Ada-ADAMS@Acme.Example", "ada")).toEqual(["ada-adams"]);
    expect(await found("ada-adams@acme.example", "alan")).toEqual([]);
    for (const email of ["ada-adams@acme.examples", "a-adams@acme.example", "ada-adams@team-org.example"])
      expect(await found(email), email).toEqual([]);
    for (const [organization, token, status] of [
      ["acme", "hf_local", 200],
      ["acme", "hf_read", 200],
      ["team-org", "hf_local", 200],
      ["acme", "hf_other", 403],
      ["team-org", "hf_other", 403],
      ["free-org", "hf_local", 403],
    ] as const) {
      const line = `GET /api/organizations/${organization}/members?email=a@b.example`;
      expect((await hub.request(line, { token })).status, `${organization} ${token}`).toBe(status);
    }
  });
});

const forAll = ["_id", "avatarUrl", "fullname", "isFollowing", "isPro", "type", "user"];
const forMembers = [...forAll, "isExternalCollaborator", "resourceGroups", "role"];
const forAdmins = [...forMembers, "twoFaEnabled"];

describe("A returned member", () => {
  test("contains the fields for the caller", async () => {
    const rows: [organization: string, token: string, fields: string[]][] = [
      ["acme", "hf_local", [...forAdmins, "verifiedEmail"]],
      ["acme", "hf_read", [...forAdmins, "verifiedEmail"]],
      ["enterprise-org", "hf_local", [...forAdmins, "verifiedEmail"]],
      ["team-org", "hf_local", [...forAdmins, "verifiedEmail"]],
      ["free-org", "hf_local", forAdmins],
      ["acme", "hf_other", forMembers],
      ["enterprise-org", "hf_other", forAll],
    ];
    const check = async (asked: TestHub, organization: string, token: string, fields: string[]) => {
      for (const member of members(await asked.request(`GET /api/organizations/${organization}/members`, { token })))
        expect(Object.keys(member).sort(), `${organization} ${token}`).toEqual([...fields].sort());
    };
    for (const row of rows) await check(hub, ...row);
    const locked = await openLocalHub();
    await locked.request(`PUT ${acme}/other-user/role`, { body: { role: "no_access" } });
    await check(locked, "acme", "hf_other", forAll);
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
  });
});

describe("Roles", () => {
  const acme = "/api/organizations/acme";

  /** Changes the role of a member of acme. */
  async function setRole(hub: TestHub, user: string, body: object): Promise<void> {
    const { status, body: answer, text } = await hub.request(`PUT ${acme}/members/${user}/role`, { body });
    expect({ status, answer }, text).toEqual({ status: 200, answer: {} });
  }

  /** Returns the role of a member in acme, and in its resource groups by name. */
  async function rolesOf(hub: TestHub, user: string): Promise<{ role: string | undefined; groups: object }> {
    const body = await hub.read(`GET ${acme}/members?search=${user}`, z.array(organizationMember));
    const member = body.find((found) => found.user === user);
    const groups = (member?.resourceGroups ?? []).map(({ name, role }) => [name, role]);
    return { role: member?.role, groups: Object.fromEntries(groups) };
  }

  async function groupNamed(hub: TestHub, name: string): Promise<z.output<typeof resourceGroup>> {
    const groups = await hub.read(`GET ${acme}/resource-groups`, z.array(resourceGroup));
    const group = groups.find((found) => found.name === name);
    if (!group) throw new Error(`There is no group ${name}.`);
    return group;
  }

  let hub: TestHub;
  beforeEach(async () => {
    hub = await openLocalHub();
  });

  describe("Changing the role of a member", () => {
    test("does not change other members, or other fields of the member", async () => {
      const read = () => hub.read(`GET ${acme}/members?limit=10000`, z.array(organizationMember));
      const before = await read();
      const guest = before.find(({ isExternalCollaborator }) => isExternalCollaborator)?.user ?? "";
      await setRole(hub, guest, { role: "contributor" });
      expect(await read()).toEqual(
        before.map((member) => (member.user === guest ? { ...member, role: "contributor" } : member)),
      );
    });

    test("sets the role in the given groups, and adds the member to those they are not in", async () => {
      const [reviews, people] = [await groupNamed(hub, "Reviews"), await groupNamed(hub, "People")];
      await setRole(hub, "other-user", {
        role: "write",
        resourceGroups: [
          { id: reviews.id, role: "admin" },
          { id: people.id.toUpperCase(), role: "reviewer" },
        ],
      });
      expect(await rolesOf(hub, "other-user")).toEqual({
        role: "write",
        groups: { Reviews: "admin", People: "reviewer" },
      });
      const others = (group: typeof reviews) => group.users.filter(({ name }) => name !== "other-user");
      const [reviewsAfter, peopleAfter] = [await groupNamed(hub, "Reviews"), await groupNamed(hub, "People")];
      expect(others(reviewsAfter)).toEqual(others(reviews));
      expect(others(peopleAfter)).toEqual(people.users);
      expect(reviewsAfter.users.map(({ name }) => name)).toEqual(reviews.users.map(({ name }) => name));
      expect(peopleAfter.users.at(-1)).toMatchObject({ name: "other-user", role: "reviewer", addedBy: "local-user" });
      expect((await hub.request(`GET ${acme}/resource-groups`, { token: "hf_other" })).body).toMatchObject([
        { name: "Reviews" },
        { name: "People" },
      ]);

      await setRole(hub, "other-user", { role: "read", resourceGroups: [{ id: people.id, role: "read" }] });
      expect(await rolesOf(hub, "other-user")).toEqual({ role: "read", groups: { Reviews: "admin", People: "read" } });
      await setRole(hub, "other-user", { role: "write", resourceGroups: [] });
      expect(await rolesOf(hub, "other-user")).toEqual({ role: "write", groups: { Reviews: "admin", People: "read" } });
    });

    test("uses the last role of a duplicate group, and changes nothing with an unknown group", async () => {
      const { id } = await groupNamed(hub, "People");
      const groups = async () => (await hub.request("GET /api/organizations/enterprise-org/resource-groups")).body;
      const [foreign] = z.array(resourceGroup).parse(await groups());
      for (const unknown of ["0123456789abcdef01234567", foreign?.id]) {
        const resourceGroups = [id, unknown].map((group) => ({ id: group, role: "admin" }));
        const answer = await hub.request(`PUT ${acme}/members/other-user/role`, {
          body: { role: "write", resourceGroups },
        });
        const error = expect.stringMatching(/^resourceGroups\[1\]\.id: /);
        expect(answer).toMatchObject({ status: 400, body: { error } });
      }
      expect(await rolesOf(hub, "other-user")).toEqual({ role: "read", groups: { Reviews: "contributor" } });

      const resourceGroups = ["admin", "read", "write"].map((role) => ({ id, role }));
      await setRole(hub, "other-user", { role: "read", resourceGroups });
      expect(await rolesOf(hub, "other-user")).toMatchObject({ groups: { People: "write" } });
      expect((await groupNamed(hub, "People")).users).toHaveLength(3);
      const [event, ...others] = await auditEvents(hub, { organization: "acme", type: "resource_group.add_users" });
      expect(event?.data).toMatchObject({ users: [{ user: "other-user", role: "write" }] });
      expect(others.filter(({ message }) => message.includes("other-user to the resource group People"))).toEqual([]);
    });

    test("adds each change to the audit log, but not a role that stays the same", async () => {
      const [reviews, people] = [await groupNamed(hub, "Reviews"), await groupNamed(hub, "People")];
      const types = ["org.change_role", "resource_group.change_role", "resource_group.add_users"] as const;
      const events = () => Promise.all(types.map((type) => auditEvents(hub, { organization: "acme", type })));
      const before = await events();
      const change = {
        role: "write",
        resourceGroups: [
          { id: reviews.id, role: "admin" },
          { id: people.id, role: "read" },
        ],
      };
      await setRole(hub, "other-user", change);
      await setRole(hub, "other-user", change);
      const after = await events();
      expect(after.map(({ length }, index) => length - (before[index]?.length ?? 0))).toEqual([1, 1, 1]);
      const group = ({ id, name }: typeof reviews) => ({ id, name });
      expect(after.map(([latest]) => latest)).toMatchObject([
        {
          author: { user: "local-user" },
          data: { user: "other-user", from: "read", to: "write" },
          message: "Changed the role of other-user from read to write",
          token: { role: "write" },
        },
        {
          author: { user: "local-user" },
          data: { resourceGroup: group(reviews), user: "other-user", from: "contributor", to: "admin" },
          message: "Changed the role of other-user in the resource group Reviews from contributor to admin",
        },
        {
          author: { user: "local-user" },
          data: { resourceGroup: group(people), users: [{ user: "other-user", role: "read" }] },
          message: "Added other-user to the resource group People with the role read",
        },
      ]);
    });
  });

  test("The role of the last admin cannot change, and an unknown member has no role", async () => {
    const set = (organization: string, user: string, role: string) =>
      hub.request(`PUT /api/organizations/${organization}/members/${user}/role`, { body: { role } });
    const error = expect.stringMatching(/^role: .*last admin/);
    expect(await set("team-org", "local-user", "write")).toMatchObject({ status: 400, body: { error } });
    expect((await set("team-org", "local-user", "admin")).status).toBe(200);
    for (const user of ["nobody", "acme", "ADA-ADAMS", "__proto__", "a%2Fb"])
      expect((await set("acme", user, "read")).status, user).toBe(404);
  });

  test("Webhooks of a member who loses access no longer fire for private repositories", async () => {
    const target = await openTarget();
    const { id } = await hub.create(
      { url: target.url, watched: [{ type: "org", name: "acme" }] },
      { token: "hf_other" },
    );
    const event = { scope: "repo.content", action: "update" } as const;
    const happens = async (repo: { name: string; private: boolean }) =>
      (await hub.trigger({ repo: { type: "model", ...repo }, event })).map(({ webhookId }) => webhookId);
    const open = { name: "acme/open", private: false };
    const hidden = { name: "acme/hidden", private: true };
    expect([await happens(open), await happens(hidden)]).toEqual([[id], [id]]);
    await setRole(hub, "other-user", { role: "no_access" });
    expect([await happens(open), await happens(hidden)]).toEqual([[id], []]);
    await setRole(hub, "other-user", { role: "a-role-of-our-own" });
    expect([await happens(open), await happens(hidden)]).toEqual([[id], [id]]);
  });
});

/** Requests the avatar without following redirects, and returns the first response. */
async function askOnce({ target = avatarPath, headers = {} }: { target?: string; headers?: object } = {}) {
  const response = await fetch(`${hub.url}${target}`, {
    redirect: "manual",
    headers: { authorization: "Bearer hf_local", ...headers },
  });
  return { status: response.status, location: response.headers.get("location"), text: await response.text() };
}

/** Requests the picture of a name, without a token. */
async function picture(name: string, { url } = hub): Promise<{ headers: Headers; svg: string }> {
  const response = await fetch(`${url}/avatars/${encodeURIComponent(name)}.svg`);
  expect(response.status).toBe(200);
  return { headers: response.headers, svg: await response.text() };
}

describe("The avatar of an organization", () => {
  test("is returned with each token", async () => {
    for (const token of ["hf_local", "hf_read", "hf_fine", "hf_other"]) {
      const { status, body } = await hub.request("GET /api/organizations/free-org/avatar", { token });
      expect({ status, body }).toEqual({ status: 200, body: { avatarUrl: `${hub.url}/avatars/free-org.svg` } });
    }
  });

  test("is a redirect to the picture for an image, and with any redirect parameter", async () => {
    const image = { headers: { "sec-fetch-dest": "image" } };
    const queries = [
      "?redirect=true",
      "?redirect=1",
      "?redirect=false",
      "?redirect=",
      "?redirect",
      "?redirect&size=64",
    ];
    for (const request of [...queries.map((query) => ({ target: avatarPath + query })), image]) {
      expect(await askOnce(request)).toMatchObject({ status: 302, location: `${hub.url}/avatars/acme.svg` });
    }
    for (const destination of ["document", "empty", "script", "images", ""]) {
      const { status, text } = await askOnce({ headers: { "sec-fetch-dest": destination } });
      expect([status, JSON.parse(text)]).toEqual([200, { avatarUrl: `${hub.url}/avatars/acme.svg` }]);
    }
    for (const name of ["nobody", "local-user"]) {
      const target = `/api/organizations/${name}/avatar?redirect`;
      expect(await askOnce({ target })).toMatchObject({ status: 404 });
    }
  });
});

describe("An avatar picture", () => {
  test("depends only on the name, contains no scripts, and loads nothing", async () => {
    const { headers, svg } = await picture("acme");
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" .*>A<\/text>/s);
    expect((await picture("acme", await openLocalHub())).svg).toBe(svg);
    const colours = await Promise.all(
      ["acme", "ada-adams", "alan-adams", "other-user"].map(async (name) => {
        return /<rect [^>]*fill="([^"]+)"/.exec((await picture(name)).svg)?.[1];
      }),
    );
    expect(new Set(colours).size).toBe(4);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "image/svg+xml; charset=utf-8",
      "x-content-type-options": "nosniff",
    });
    const policy = (headers.get("content-security-policy") ?? "").split("; ");
    expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "frame-ancestors 'none'", "sandbox"]));
    expect(policy.filter((rule) => /^(script|style|img)-src/.test(rule))).toEqual([]);
  });

  test.each([
    { what: "markup", name: "<script>alert(1)</script>" },
    { what: "markup after a quote", name: '"><script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>' },
    { what: "an attribute", name: "a' onload='alert(1)" },
    { what: "closing characters of XML", name: "]]>&x;<!--" },
    { what: "a slash", name: "a/b" },
    { what: "dots", name: ".." },
    { what: "characters that are invalid in XML", name: "\u0000\u001b\uffff" },
    { what: "characters outside of Latin", name: "李小龙😀" },
    { what: "a file extension", name: "a.svg" },
    { what: "a very long name", name: "x".repeat(2_000) },
  ])("contains the name escaped: $what", async ({ name }) => {
    const tags = (svg: string) => svg.match(/<[^>]*>/g)?.map((tag) => tag.replace(/(\w)="[^"']*"/g, "$1"));
    const { svg } = await picture(name);
    expect(tags(svg)).toEqual(tags((await picture("acme")).svg));
    expect(svg).not.toMatch(/[\u0000-\u0008\u000b-\u001f\uffff]/);
    const title = name
      .replace(/[\u0000\u001b\uffff]/g, "\ufffd")
      .replace(/[&<>"']/g, (sign) => `&${{ "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "#39" }[sign]};`);
    expect(svg).toContain(` aria-label="${title}">`);
  });

  test("is 404 for a file name that is not a name with .svg", async () => {
    for (const file of ["acme", "acme.png", ".svg", "acme.svg/x"]) {
      expect((await fetch(`${hub.url}/avatars/${file}`)).status, file).toBe(404);
    }
  });
});
