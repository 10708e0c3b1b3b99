import { describe, expect, test } from "vitest";
import * as z from "zod";
import { openLocalHub, pushed, type TestHub } from "../support/hub.ts";
import { openTarget } from "../support/target.ts";

const repositories = z.array(
  z.strictObject({
    type: z.string(),
    name: z.string(),
    id: z.string().regex(/^[0-9a-f]{24}$/),
    private: z.boolean(),
    headSha: z
      .string()
      .regex(/^[0-9a-f]{40}$/)
      .optional(),
    discussions: z.int().min(0),
    createdAt: z.int(),
    lastModified: z.int(),
    gated: z.literal(false),
    discussionsDisabled: z.literal(false),
    sdk: z.string().optional(),
  }),
);

async function repositoriesOf(hub: TestHub) {
  const { status, body, text } = await hub.request("GET /_local/repositories", { token: null });
  expect(status, text).toBe(200);
  return repositories.parse(body);
}

describe("The repositories of a new local Hub", () => {
  test("have all types, belong to an organization and to the developer, and include private ones", async () => {
    const all = await repositoriesOf(await openLocalHub());
    expect(all.map(({ type, name }) => `${type}:${name}`)).toEqual([
      "bucket:acme/uploads",
      "dataset:acme/reviews",
      "dataset:acme/salaries",
      "dataset:acme/translations",
      "dataset:local-user/notes",
      "kernel:acme/rotary",
      "model:acme/sentiment",
      "model:local-user/drafts",
      "space:acme/playground",
    ]);
    expect(all.filter((known) => known.private).map(({ name }) => name)).toEqual([
      "acme/salaries",
      "local-user/drafts",
    ]);
    expect(all.filter(({ headSha }) => headSha === undefined).map(({ type }) => type)).toEqual(["bucket"]);
    const ids = all.flatMap(({ id, headSha }) => [id, ...(headSha === undefined ? [] : [headSha])]);
    expect(new Set(ids).size).toBe(17);
  });

  test("are the same in every local Hub, and a reset restores them", async () => {
    const [hub, another] = [await openLocalHub(), await openLocalHub()];
    const before = await repositoriesOf(hub);
    expect(await repositoriesOf(another)).toEqual(before);
    await hub.trigger({ repo: { type: "model", name: "acme/sentiment" }, event: { scope: "repo", action: "delete" } });
    await hub.trigger({ repo: { type: "model", name: "acme/new" }, event: { scope: "repo", action: "create" } });
    const names = (await repositoriesOf(hub)).map(({ name }) => name);
    expect(names).toContain("acme/new");
    expect(names).not.toContain("acme/sentiment");
    hub.hub.reset();
    expect(await repositoriesOf(hub)).toEqual(before);
  });

  test("keep their head commit and their discussion numbers with new events", async () => {
    const target = await openTarget();
    const hub = await openLocalHub();
    const repo = { type: "dataset", name: "acme/reviews" } as const;
    await hub.create({ url: target.url, watched: [repo] });
    const reviews = (await repositoriesOf(hub)).find(({ name }) => name === repo.name);
    await hub.trigger({ repo, event: pushed.event });
    await hub.trigger({ repo, event: { scope: "discussion", action: "create" } });
    expect(target.payloads).toMatchObject([
      { repo: { id: reviews?.id }, updatedRefs: [{ oldSha: reviews?.headSha }] },
      { repo: { id: reviews?.id }, discussion: { num: 13 } },
    ]);
  });

  test("that are private fire only webhooks of users who can read them", async () => {
    const target = await openTarget();
    const hub = await openLocalHub();
    await hub.create({ url: target.url, watched: [{ type: "user", name: "local-user" }] }, { token: "hf_other" });
    await hub.trigger({ repo: { type: "model", name: "local-user/drafts" }, event: pushed.event });
    expect(target.payloads).toEqual([]);
    await hub.trigger({ repo: { type: "dataset", name: "local-user/notes" }, event: pushed.event });
    expect(target.payloads).toHaveLength(1);
  });
});
