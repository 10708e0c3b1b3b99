import { beforeEach, describe, expect, test } from "vitest";
import { openLocalHub, type TestHub } from "../support/hub.ts";

const other = { token: "hf_other" };

/** Returns the settings of local-user and of other-user, as the control response lists them. */
async function getSettings(hub: TestHub): Promise<unknown> {
  const { status, body, text } = await hub.request("GET /_local/settings", { token: null });
  expect(status, text).toBe(200);
  return body;
}

const watchPath = "PATCH /api/settings/watch";
const notificationsPath = "PATCH /api/settings/notifications";
const reviews = { type: "repo", id: expect.stringMatching(/^[0-9a-f]{24}$/) };

let hub: TestHub;
beforeEach(async () => {
  hub = await openLocalHub();
});

describe("The settings of a new local Hub", () => {
  test("exist for every user with a token", async () => {
    expect(await getSettings(hub)).toEqual([
      {
        user: "local-user",
        notifications: { announcements: true, web_discussions_watched: true, launch_spaces: false },
        watched: [reviews],
      },
      { user: "other-user", notifications: {}, watched: [] },
    ]);
  });
});

describe("The MCP tools", () => {
  test("include those of the Hub and of Spaces, for every token that can read", async () => {
    const { body } = await hub.request("GET /api/settings/mcp", { token: "hf_read" });
    expect(body).toMatchObject({
      builtInTools: expect.arrayContaining(["hub_repo_search"]),
      spaceTools: [{ name: "acme/playground", subdomain: "acme-playground" }, {}],
    });
    expect((await hub.request("GET /api/settings/mcp", { token: null })).status).toBe(401);
  });
});

describe("Changing the notification settings", () => {
  test("changes only the given settings, of this user only", async () => {
    const notifications = { launch_spaces: true, user_follows: false, product_updates_after: "2026-01-31T00:00:00Z" };
    const answer = await hub.request(notificationsPath, { body: { notifications } });
    expect([answer.status, answer.text]).toEqual([200, "{}"]);
    await hub.request(notificationsPath, { body: { notifications: { user_follows: true } } });
    expect(await getSettings(hub)).toEqual([
      {
        user: "local-user",
        notifications: {
          announcements: true,
          web_discussions_watched: true,
          ...notifications,
          user_follows: true,
        },
        watched: [reviews],
      },
      { user: "other-user", notifications: {}, watched: [] },
    ]);
  });

  test("keeps the amount until a new one is given", async () => {
    const enabled = { notifications: { launch_prepaid_credits: true }, prepaidAmount: "10" };
    await hub.request(notificationsPath, { ...other, body: enabled });
    expect(await getSettings(hub)).toMatchObject([{}, enabled]);
    await hub.request(notificationsPath, { ...other, body: { notifications: { launch_prepaid_credits: false } } });
    expect(await getSettings(hub)).toMatchObject([
      {},
      { notifications: { launch_prepaid_credits: false }, prepaidAmount: "10" },
    ]);
    await hub.request(notificationsPath, { ...other, body: { notifications: {}, prepaidAmount: "" } });
    expect(await getSettings(hub)).toMatchObject([{}, { prepaidAmount: "" }]);
    expect(await getSettings(hub)).toEqual([expect.not.objectContaining({ prepaidAmount: "" }), expect.anything()]);
  });

  test("changes nothing with an empty body", async () => {
    const before = await getSettings(hub);
    expect(await hub.request(notificationsPath, { body: { notifications: {} } })).toMatchObject({
      status: 200,
      body: {},
    });
    expect(await getSettings(hub)).toEqual(before);
  });
});

describe("Changing the watched items", () => {
  const org = { type: "org", id: "acme" };
  const user = { type: "user", id: "acme" };
  const repo = { type: "repo", id: "acme/data" };

  test("adds and removes items, of this user only", async () => {
    const answer = await hub.request(watchPath, { ...other, body: { add: [org, user, repo] } });
    expect([answer.status, answer.text]).toEqual([200, "{}"]);
    expect(await getSettings(hub)).toMatchObject([{ watched: [reviews] }, { watched: [org, user, repo] }]);
    await hub.request(watchPath, { ...other, body: { delete: [user] } });
    expect(await getSettings(hub)).toMatchObject([{ watched: [reviews] }, { watched: [org, repo] }]);
  });

  test("keeps one of two duplicates", async () => {
    await hub.request(watchPath, { ...other, body: { add: [org, repo, org] } });
    await hub.request(watchPath, { ...other, body: { add: [repo] } });
    expect(await getSettings(hub)).toMatchObject([{}, { watched: [org, repo] }]);
  });

  test("does not return an item that it adds and removes", async () => {
    await hub.request(watchPath, { ...other, body: { add: [org, repo], delete: [org] } });
    expect(await getSettings(hub)).toMatchObject([{}, { watched: [repo] }]);
  });

  test("changes nothing without new or known items", async () => {
    const before = await getSettings(hub);
    for (const body of [{}, { add: [], delete: [] }, { delete: [repo] }]) {
      expect(await hub.request(watchPath, { body })).toMatchObject({ status: 200, body: {} });
      expect(await getSettings(hub)).toEqual(before);
    }
  });
});
