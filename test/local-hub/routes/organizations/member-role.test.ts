import { beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { organizationMember } from "../../../../src/hub/organizations/organizations.ts";
import { resourceGroup } from "../../../../src/hub/organizations/resource-groups.ts";
import { auditEvents, openLocalHub, type TestHub } from "../../support/hub.ts";
import { openTarget } from "../../support/target.ts";

const acme = "/api/organizations/acme";

/** Changes the role of a member of acme. */
async function setRole(hub: TestHub, user: string, body: object): Promise<void> {
  const { status, body: answer, text } = await hub.request(`PUT ${acme}/members/${user}/role`, { body });
  expect({ status, answer }, text).toEqual({ status: 200, answer: {} });
}

/** Returns the role of a member in acme, and in its resource groups by name. */
async function rolesOf(hub: TestHub, user: string): Promise<{ role: string | undefined; groups: object }> {
  const { body } = await hub.request(`GET ${acme}/members?search=${user}`);
  const member = z
    .array(organizationMember)
    .parse(body)
    .find((found) => found.user === user);
  const groups = (member?.resourceGroups ?? []).map(({ name, role }) => [name, role]);
  return { role: member?.role, groups: Object.fromEntries(groups) };
}

async function groupNamed(hub: TestHub, name: string): Promise<z.output<typeof resourceGroup>> {
  const { body } = await hub.request(`GET ${acme}/resource-groups`);
  const group = z
    .array(resourceGroup)
    .parse(body)
    .find((found) => found.name === name);
  if (!group) throw new Error(`There is no group ${name}.`);
  return group;
}

let hub: TestHub;
beforeEach(async () => {
  hub = await openLocalHub();
});

describe("Changing the role of a member", () => {
  test("sets it, and the next read returns it", async () => {
    for (const role of ["admin", "write", "contributor", "read", "no_access", "reviewer", "Head of Data"]) {
      await setRole(hub, "alan-adams", { role });
      expect(await rolesOf(hub, "alan-adams")).toEqual({ role, groups: { Reviews: "write" } });
    }
  });

  test("does not change other members, or other fields of the member", async () => {
    const read = async () =>
      z.array(organizationMember).parse((await hub.request(`GET ${acme}/members?limit=10000`)).body);
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

  test("with a duplicate group uses the last role", async () => {
    const { id } = await groupNamed(hub, "People");
    const resourceGroups = ["admin", "read", "write"].map((role) => ({ id, role }));
    await setRole(hub, "other-user", { role: "read", resourceGroups });
    expect(await rolesOf(hub, "other-user")).toMatchObject({ groups: { People: "write" } });
    expect((await groupNamed(hub, "People")).users).toHaveLength(3);
    const [event, ...others] = await auditEvents(hub, { organization: "acme", type: "resource_group.add_users" });
    expect(event?.data).toMatchObject({ users: [{ user: "other-user", role: "write" }] });
    expect(others.filter(({ message }) => message.includes("other-user to the resource group People"))).toEqual([]);
  });

  test("with an unknown group changes nothing, and returns its name", async () => {
    const { id } = await groupNamed(hub, "People");
    const { body: elsewhere } = await hub.request("GET /api/organizations/enterprise-org/resource-groups");
    const [foreign] = z.array(resourceGroup).parse(elsewhere);
    for (const unknown of ["0123456789abcdef01234567", foreign?.id]) {
      const resourceGroups = [id, unknown].map((group) => ({ id: group, role: "admin" }));
      const { status, body } = await hub.request(`PUT ${acme}/members/other-user/role`, {
        body: { role: "write", resourceGroups },
      });
      expect({ status, body }).toEqual({
        status: 400,
        body: { error: expect.stringMatching(/^resourceGroups\[1\]\.id: /) },
      });
    }
    expect(await rolesOf(hub, "other-user")).toEqual({ role: "read", groups: { Reviews: "contributor" } });
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

describe("An organization", () => {
  test("rejects the removal of its last admin with 400", async () => {
    const { status, body } = await hub.request("PUT /api/organizations/team-org/members/local-user/role", {
      body: { role: "write" },
    });
    expect({ status, body }).toEqual({
      status: 400,
      body: { error: "role: local-user is the last admin of team-org. Make another member an admin first" },
    });
    const same = await hub.request("PUT /api/organizations/team-org/members/local-user/role", {
      body: { role: "admin" },
    });
    expect(same.status).toBe(200);
  });

  test("allows the removal of an admin if there is another one", async () => {
    await setRole(hub, "ada-adams", { role: "write" });
    const last = await hub.request(`PUT ${acme}/members/local-user/role`, { body: { role: "read" } });
    expect(last.status).toBe(400);
    await setRole(hub, "other-user", { role: "admin" });
    await setRole(hub, "local-user", { role: "read" });
    expect((await hub.request(`PUT ${acme}/members/local-user/role`, { body: { role: "admin" } })).status).toBe(403);
    const back = { token: "hf_other", body: { role: "admin" } };
    expect((await hub.request(`PUT ${acme}/members/local-user/role`, back)).status).toBe(200);
  });
});

describe("Changing the role of a member", () => {
  test("returns 404 for an unknown member", async () => {
    for (const user of ["nobody", "acme", "ADA-ADAMS", "__proto__", "a%2Fb"]) {
      const { status, body } = await hub.request(`PUT ${acme}/members/${user}/role`, { body: { role: "read" } });
      const error = `"acme" has no member "${decodeURIComponent(user)}".`;
      expect({ status, body }).toEqual({ status: 404, body: { error } });
    }
  });
});

test("Webhooks of a member who loses access no longer fire for private repositories", async () => {
  const target = await openTarget();
  const { id } = await hub.create({ url: target.url, watched: [{ type: "org", name: "acme" }] }, { token: "hf_other" });
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
  expect(target.payloads.map(({ repo }) => repo.name)).toEqual([
    "acme/open",
    "acme/hidden",
    "acme/open",
    "acme/open",
    "acme/hidden",
  ]);
});
