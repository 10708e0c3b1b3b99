import { beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { type ReturnedResourceGroup, resourceGroup } from "../../../../src/hub/organizations/resource-groups.ts";
import type { RepoRef } from "../../../../src/hub/schemas.ts";
import { toResourceGroup } from "../../../../src/local-hub/resources/organizations/resource-groups.ts";
import type { HubEvent } from "../../../../src/local-hub.ts";
import { openMemoryStore, storedRepository } from "../../support/context.ts";
import { auditEvents, openLocalHub, type TestHub } from "../../support/hub.ts";

const pathOf = (organization: string) => `/api/organizations/${organization}/resource-groups`;

const listed = (hub: TestHub, { organization = "acme", token = "hf_local" } = {}) =>
  hub.read(`GET ${pathOf(organization)}`, z.array(resourceGroup), { token });

const created = (hub: TestHub, body: object, organization = "acme") =>
  hub.read(`POST ${pathOf(organization)}`, resourceGroup, { body });

/** Returns the error message for a group that cannot be created. */
async function refused(hub: TestHub, body: object, organization = "acme"): Promise<string> {
  const before = await listed(hub, { organization });
  const { status, text } = await hub.request(`POST ${pathOf(organization)}`, { body });
  expect(status, text).toBe(400);
  expect(await listed(hub, { organization })).toEqual(before);
  return text;
}

const named = (groups: ReturnedResourceGroup[]) => groups.map(({ name }) => name);

/** Creates a repository. */
async function addRepository(hub: TestHub, repo: RepoRef): Promise<RepoRef> {
  await hub.trigger({ repo, event: { scope: "repo", action: "create" } });
  return repo;
}

const fresh = { type: "model", name: "acme/fresh" } as const;
const reviews = { type: "dataset", name: "acme/reviews" } as const;

let hub: TestHub;
beforeEach(async () => {
  hub = await openLocalHub();
});

describe("The resource groups of an organization", () => {
  test("are all returned to an admin, but to other members only if they have a role", async () => {
    const other = (role: string) => [{ user: "other-user", role }];
    await created(hub, { name: "Locked", users: other("no_access") });
    await created(hub, { name: "Open", users: other("own-role") });
    expect(named(await listed(hub, { token: "hf_other" }))).toEqual(["Reviews", "Open"]);
    const all = ["Reviews", "People", "Experiments", "Locked", "Open"];
    expect(named(await listed(hub, { token: "hf_read" }))).toEqual(all);
  });

  test("are listed in the order of creation, even within one millisecond", async () => {
    const hub = await openLocalHub({ now: () => 1_700_000_000_000 });
    const names = Array.from({ length: 8 }, (_, number) => `group ${7 - number}`);
    for (const name of names) await created(hub, { name }, "enterprise-org");
    expect(named(await listed(hub, { organization: "enterprise-org" }))).toEqual(["Everything", ...names]);
  });
});

describe("A new resource group", () => {
  test("is returned with its values and with the user who added them", async () => {
    await addRepository(hub, fresh);
    // The Hub added the scope read_plus on 2026-08-17.
    const autoJoin = { enabled: true, role: "contributor", scope: "read_plus" };
    const values = { name: "New", description: "All that is new", autoJoin };
    const group = await created(hub, {
      ...{ ...values, repos: [fresh] },
      users: [
        { user: "alan-adams", role: "write" },
        { user: "other-user", role: "own-role" },
      ],
    });
    expect(group).toMatchObject({
      ...{ ...values, id: expect.stringMatching(/^[0-9a-f]{24}$/) },
      users: [
        { name: "alan-adams", fullname: "Alan Adams", role: "write", addedBy: "local-user" },
        { name: "other-user", role: "own-role", addedBy: "local-user" },
      ],
      repos: [{ ...fresh, private: false, addedBy: "local-user" }],
    });
    expect((await listed(hub)).at(-1)).toEqual(group);
    expect(await refused(hub, { name: "Some", autoJoin: { ...autoJoin, scope: "some" } })).toContain("autoJoin.scope");
  });

  test("is added to the audit log, with each of its repositories", async () => {
    await addRepository(hub, fresh);
    const space = await addRepository(hub, { type: "space", name: "acme/fresh" });
    const { id } = await created(hub, { name: "New", repos: [fresh, space] });
    const [event] = await auditEvents(hub, { organization: "acme", type: "resource_group.create" });
    expect(event).toMatchObject({
      data: { id, name: "New" },
      author: { user: "local-user" },
      token: { role: "write" },
      userAgent: expect.any(String),
    });
    const [second, first] = await auditEvents(hub, { organization: "acme", type: "repo.update_resource_group" });
    expect(first?.data).toEqual({ repo: fresh, resourceGroup: { id, name: "New" } });
    expect(second?.data).toEqual({ repo: space, resourceGroup: { id, name: "New" } });
  });

  test("requires a unique name in the organization, and members of the organization, each once", async () => {
    expect(await refused(hub, { name: "Reviews" })).toContain("name: ");
    await created(hub, { name: "Reviews" }, "enterprise-org");
    const ada = { user: "ada-adams", role: "read" };
    const refuse = (users: object[], organization?: string) => refused(hub, { name: "New", users }, organization);
    expect(await refuse([ada, { user: "nobody", role: "read" }])).toContain("users[1].user: ");
    expect(await refuse([ada], "enterprise-org")).toContain("users[0].user: ");
    expect(await refuse([ada, { ...ada, role: "write" }])).toContain("users[1].user: this user is listed twice");
    const users = Array.from({ length: 50 }, (_, number) => ({ user: `nobody-${number}`, role: "read" }));
    expect((await refuse(users)).match(/users\[\d+\]/g)).toHaveLength(5);
  });

  test("accepts only existing repositories of the organization, each once", async () => {
    await addRepository(hub, fresh);
    const mine = await addRepository(hub, { type: "model", name: "local-user/net" });
    const repos = [fresh, { type: "dataset", name: fresh.name }, mine, fresh, reviews];
    const text = await refused(hub, { name: "New", repos });
    expect(text).not.toContain("repos[0]");
    expect(text).toContain("repos[1].name: this dataset does not exist");
    expect(text).toContain("repos[2].name: this model does not belong to acme");
    expect(text).toContain("repos[3].name: this model is listed twice");
    expect(text).toContain("repos[4].name: this dataset is already in the resource group Reviews");
  });
});

describe("A repository in a resource group", () => {
  const [other, away] = [
    { ...fresh, name: "acme/other" },
    { ...fresh, name: "team-org/fresh" },
  ] as const;
  const namesake = { type: "dataset", name: fresh.name } as const;
  const move = (repo: RepoRef, to: RepoRef) => ({
    ...{ repo, event: { scope: "repo", action: "move" }, movedTo: { name: to.name } },
  });
  const remove = (repo: RepoRef) => ({ repo, event: { scope: "repo", action: "delete" } });
  const configure = (isPrivate: boolean) => ({
    ...{ repo: fresh, event: { scope: "repo.config", action: "update" }, updatedConfig: { private: isPrivate } },
  });

  test.each<[what: string, events: HubEvent[], left: readonly RepoRef[], isPrivate?: boolean]>([
    ["has its current visibility", [configure(true)], [fresh, namesake], true],
    ["has its visibility after a second change", [configure(true), configure(false)], [fresh, namesake]],
    [
      "stays when it is renamed",
      [move(fresh, { ...fresh, name: "acme/moved" })],
      [{ ...fresh, name: "acme/moved" }, namesake],
    ],
    ["replaces a repository with its new name, in any group", [move(fresh, other)], [other, namesake]],
    ["leaves when a repository of another owner gets its name", [move(away, fresh)], [namesake]],
    ["leaves when it moves to another owner", [move(fresh, { ...away, name: "team-org/new" })], [namesake]],
    [
      "does not return with it",
      [move(fresh, { ...away, name: "team-org/new" }), move({ ...away, name: "team-org/new" }, fresh)],
      [namesake],
    ],
    ["leaves when it is deleted", [remove(fresh)], [namesake]],
    ["stays when a repository of another type is deleted", [remove(namesake)], [fresh]],
  ])("%s", async (_what, events, left, isPrivate = false) => {
    for (const repo of [fresh, namesake, other, away]) await addRepository(hub, repo);
    await created(hub, { name: "New", repos: [fresh, namesake] });
    await created(hub, { name: "Other", repos: [other] });
    for (const event of events) await hub.trigger(event);
    const reposOf = async (name: string) =>
      (await listed(hub)).find((group) => group.name === name)?.repos?.map(({ addedBy: _, ...repo }) => repo);
    expect(await reposOf("New")).toEqual(left.map((repo) => ({ ...repo, private: isPrivate && repo === fresh })));
    expect(await reposOf("Other")).toHaveLength(left.includes(other) ? 0 : 1);
    // A new repository with a name that is free again belongs to no group.
    await addRepository(hub, fresh);
    expect(await reposOf("New")).toHaveLength(left.length);
  });
});

test("A resource group does not contain a repository that no longer exists", () => {
  const store = openMemoryStore();
  const there = { type: "model", name: "acme/there" } as const;
  store.repositories.put(storedRepository({ ...there, private: true }));
  const repos = [{ type: "model", name: "acme/gone" } as const, there];
  const group = { owner: "acme", id: "b".repeat(24), record: { name: "Some", createdAt: 0, users: [], repos } };
  expect(toResourceGroup(group, { store, hubUrl: "http://127.0.0.1" })).toEqual({
    id: group.id,
    name: "Some",
    users: [],
    resources: [{ ...there, private: true }],
    repos: [{ ...there, private: true }],
  });
});
