import { describe, expect, test } from "vitest";
import { sampleOf, variantsOf } from "./contract/cases.ts";
import { allOf, type Connected, connect, openHub, rejectionOf, token } from "./scripted-hub.ts";

const id = "65b2f0a1c3d4e5f60718293a";
const organization = "/api/organizations/acme";

const search = {
  ...{ p: 2, readStatus: "unread", postAuthor: "ada", paperId: "2401.1", articleId: "b", mention: "mentions" },
  ...{ lastUpdate: "2026-01-31T09:15:27Z", repoName: undefined },
} as const;
const encodedSearch =
  "p=2&readStatus=unread&postAuthor=ada&paperId=2401.1&articleId=b&mention=mentions&lastUpdate=2026-01-31T09%3A15%3A27Z";
const groups = `${organization}/resource-groups`;
/** A call, and the body that it must send. */
type Row = readonly [call: (hub: Connected) => Promise<unknown>, body?: unknown];

/** The operations whose request differs from the arguments, by the name of their response and the request that the call must send. */
const returning: Readonly<Record<string, Row>> = {
  [`NotificationPage GET /api/notifications?${encodedSearch}`]: [(hub) => hub.notifications.list(search)],
  [`ResourceGroup POST ${groups}`]: [
    (hub) => hub.organizations.resourceGroups.create("acme", { name: "vision" }),
    { name: "vision", users: [], repos: [] },
  ],
};

const role = { role: "reviewer", resourceGroups: [{ id, role: "admin" }] };
const settings = { notifications: { announcements: false, product_updates_after: "2026-01-31T09:15:27Z" } };
const unread = { discussionIds: ["any text"], read: false };

/** Operations whose response hub-api.md does not describe. They return `undefined` for any response. */
const silent: Readonly<Record<string, Row>> = {
  "DELETE /api/notifications": [(hub) => hub.notifications.delete({ discussionIds: [id] }), { discussionIds: [id] }],
  "DELETE /api/notifications?repoType=dataset&repoName=acme%2Fa+b&applyToAll=true": [
    (hub) => hub.notifications.delete({ applyToAll: true, repoType: "dataset", repoName: "acme/a b" }),
  ],
  "POST /api/notifications/mark-as-read": [(hub) => hub.notifications.markAsRead(unread), unread],
  "POST /api/notifications/mark-as-read?mention=participating&applyToAll=true": [
    (hub) => hub.notifications.markAsRead({ applyToAll: true, mention: "participating" }),
    { discussionIds: [], read: true },
  ],
  "PATCH /api/settings/notifications": [(hub) => hub.settings.updateNotifications(settings), settings],
  "PATCH /api/settings/watch": [
    (hub) => hub.settings.updateWatch({ add: [{ id: "x", type: "org" }] }),
    { add: [{ id: "x", type: "org" }], delete: [] },
  ],
  [`POST ${organization}/settings/tokens/revoke`]: [
    (hub) => hub.organizations.revokeToken("acme", { token: "hf_PlantedOther55" }),
    { token: "hf_PlantedOther55" },
  ],
  [`POST ${organization}/settings/tokens/${id}/revoke`]: [
    (hub) => hub.organizations.revokeToken("acme", { tokenId: id }),
  ],
  [`PUT ${organization}/members/ada/role`]: [(hub) => hub.organizations.setMemberRole("acme", "ada", role), role],
};

describe("An operation", () => {
  test.each([
    ...Object.entries(returning).map(([given, [run, body]]) => {
      const [name = "", ...sends] = given.split(" ");
      const answer = sampleOf(variantsOf(name)[0] ?? []);
      return { sends: sends.join(" "), run, body, answer, result: answer };
    }),
    ...Object.entries(silent).map(([sends, [run, body]]) => ({ sends, run, body, answer: {}, result: undefined })),
  ])("sends $sends, and returns the result", async ({ sends, run, body, answer, result }) => {
    const hub = await openHub({ json: answer });
    expect(await run(connect(hub.url))).toEqual(result);
    expect(hub.calls).toEqual([sends]);
    expect(hub.requests[0]?.headers).toMatchObject({ authorization: `Bearer ${token}`, accept: "application/json" });
    expect(hub.requests[0]?.body).toBe(body === undefined ? "" : JSON.stringify(body));
    expect(hub.requests[0]?.headers["content-type"]).toBe(body === undefined ? undefined : "application/json");
  });

  test.each(Object.entries(silent))(
    "%s accepts any response body except a web page, because none is documented",
    async (_sends, [run]) => {
      for (const answer of [{ text: "" }, { text: "OK" }, { json: { done: true } }, { json: null }, { json: [1] }]) {
        expect(await run(connect((await openHub(answer)).url))).toBeUndefined();
      }
      const hub = await openHub({ text: "<!doctype html><title>Log in to the network</title>" });
      expect(await rejectionOf(run(connect(hub.url)))).toMatchObject({ code: "HUB_RESPONSE_INVALID" });
    },
  );
});

describe("An invalid argument throws before a request is sent", () => {
  test.each<[string, string[], (hub: Connected) => Promise<unknown>]>([
    [
      "a search that would delete nothing",
      ["discussionIds"],
      (hub) => hub.notifications.delete({ repoName: "acme/data" }),
    ],
    [
      "a search that would mark nothing",
      ["discussionIds"],
      (hub) => hub.notifications.markAsRead({ readStatus: "unread" }),
    ],
    [
      "an incomplete token",
      ["token"],
      ({ organizations }) => organizations.revokeToken("acme", { token: "Planted-not-a-token" }),
    ],
    ["a limit of 9", ["limit"], ({ organizations }) => allOf(organizations.members("acme", { limit: 9 }))],
    [
      "a query that is not a string",
      ["q"],
      ({ organizations }) => allOf(organizations.auditLog("acme", JSON.parse('{"q": 1}'))),
    ],
    ["an empty name", ["name"], ({ organizations }) => organizations.avatar("")],
    [
      "a name of two dots",
      ["username"],
      ({ organizations }) => organizations.setMemberRole("acme", "..", { role: "read" }),
    ],
  ])("%s: ARGUMENT_INVALID with the fields %j", async (_what, fields, run) => {
    const hub = await openHub({ json: {} });
    const error = await rejectionOf(run(connect(hub.url)));
    expect(error).toMatchObject({ code: "ARGUMENT_INVALID", fields });
    expect(String(error)).not.toContain("Planted");
    expect(hub.calls).toEqual([]);
  });
});

describe("A failed call", () => {
  test.each<[string, number, (hub: Connected) => Promise<unknown>]>([
    ["marking listed notifications", 2, (hub) => hub.notifications.markAsRead({ discussionIds: [] })],
    ["deleting listed notifications", 2, (hub) => hub.notifications.delete({ discussionIds: [id] })],
    ["deleting all notifications", 1, (hub) => hub.notifications.delete({ applyToAll: true })],
    ["marking all notifications", 1, (hub) => hub.notifications.markAsRead({ applyToAll: true })],
    [
      "deleting all notifications up to a time",
      2,
      (hub) => hub.notifications.delete({ applyToAll: true, lastUpdate: "2026-01-31T09:15:27Z" }),
    ],
    ["changing settings", 2, (hub) => hub.settings.updateWatch({})],
    ["changing a role", 2, ({ organizations }) => organizations.setMemberRole("acme", "ada", { role: "read" })],
    ["claiming a paper", 1, (hub) => hub.papers.claim({ paperId: "2401.12345" })],
    ["creating a group", 1, ({ organizations }) => organizations.resourceGroups.create("acme", { name: "x" })],
    ["revoking a token", 2, ({ organizations }) => organizations.revokeToken("acme", { token: "hf_x" })],
  ])("is retried only if it is idempotent: %s, %i requests", async (_what, times, run) => {
    const hub = await openHub({ status: 500 }, { json: {} });
    await run(connect(hub.url)).catch(() => {});
    expect(hub.calls).toHaveLength(times);
  });
});
