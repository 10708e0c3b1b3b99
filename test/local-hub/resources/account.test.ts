import { beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { whoami } from "../../../src/hub/account.ts";
import { accountId, deriveTokenId, developmentTokens } from "../../../src/local-hub/accounts.ts";
import { openLocalHub, shareLocalHub, type TestHub } from "../support/hub.ts";

const shared = await shareLocalHub();

const getWhoami = (hub: TestHub, token = "hf_local") => hub.read("GET /api/whoami-v2", whoami, { token });

describe("whoami", () => {
  test("returns the user and the role of a token", async () => {
    for (const { token, user, tokenRole } of developmentTokens) {
      const answer = await getWhoami(shared, token);
      expect(answer).toMatchObject({ type: "user", name: user, auth: { accessToken: { role: tokenRole } } });
      expect(answer.auth.type).toBe("access_token");
      expect(JSON.stringify(answer)).not.toContain(token);
    }
  });

  test("returns the organizations of the user, their plans, and the role in each", async () => {
    const orgs = (await getWhoami(shared)).orgs.map(({ name, plan, roleInOrg }) => ({ name, plan, roleInOrg }));
    expect(orgs).toEqual([
      { name: "acme", plan: "plus", roleInOrg: "admin" },
      { name: "enterprise-org", plan: "enterprise", roleInOrg: "admin" },
      { name: "team-org", plan: "team", roleInOrg: "admin" },
      { name: "free-org", plan: undefined, roleInOrg: "admin" },
    ]);
    const [acme, ...others] = (await getWhoami(shared, "hf_other")).orgs;
    expect(others).toEqual([]);
    expect(acme).toMatchObject({ name: "acme", roleInOrg: "read" });
    expect(acme?.resourceGroups).toEqual([{ id: expect.any(String), name: "Reviews", role: "contributor" }]);
  });

  test("returns the place where the token was revoked", async () => {
    const hub = await openLocalHub();
    await hub.request(`POST /api/organizations/acme/settings/tokens/${deriveTokenId("hf_other")}/revoke`);
    const [acme] = (await getWhoami(hub, "hf_other")).orgs;
    expect(acme?.securityRestrictions).toEqual(["token-revoked"]);
    expect((await getWhoami(hub)).orgs[0]).not.toHaveProperty("securityRestrictions");
  });

  test("returns the permissions of a fine-grained token only", async () => {
    const { auth } = await getWhoami(shared, "hf_fine");
    expect(auth.accessToken?.fineGrained?.scoped).toMatchObject([{ entity: { name: "local-user", type: "user" } }]);
    expect((await getWhoami(shared)).auth.accessToken).not.toHaveProperty("fineGrained");
  });
});

test("The profile of a user contains public repositories and organizations", async () => {
  const hub = await openLocalHub();
  const profile = async () => (await hub.request("GET /api/users/other-user/overview", { token: null })).body;
  const expected = { _id: accountId("other-user"), user: "other-user", type: "user", fullname: "Other User" };
  expect(await profile()).toMatchObject({ ...expected, numModels: 0, orgs: [{ name: "acme" }] });
  for (const isPrivate of [true, false]) {
    const body = { name: `net-${isPrivate}`, private: isPrivate };
    await hub.request("POST /api/repos/create", { token: "hf_other", body });
  }
  expect(await profile()).toMatchObject({ ...expected, numModels: 1 });
  expect((await hub.request("GET /api/users/nobody/overview")).status).toBe(404);
  expect((await hub.request("GET /api/users/acme/overview")).status).toBe(404);
});

test("The profile of an organization contains its members and public repositories", async () => {
  const hub = await openLocalHub();
  const { body } = await hub.request("GET /api/organizations/acme/overview", { token: null });
  expect(body).toMatchObject({ name: "acme", type: "org", numUsers: expect.any(Number), numDatasets: 2 });
  expect((await hub.request("GET /api/organizations/nobody/overview")).status).toBe(404);
  expect((await hub.request("GET /api/organizations/local-user/overview")).status).toBe(404);
});

describe("Settings", () => {
  const other = { token: "hf_other" };

  /** Returns the settings of local-user and of other-user, as the control response lists them. */
  const getSettings = (hub: TestHub) => hub.read("GET /_local/settings", z.array(z.unknown()), { token: null });

  const watchPath = "PATCH /api/settings/watch";
  const notificationsPath = "PATCH /api/settings/notifications";

  let hub: TestHub;
  beforeEach(async () => {
    hub = await openLocalHub();
  });

  test("The MCP tools include those of the Hub and of Spaces, for every token that can read", async () => {
    const { body } = await hub.request("GET /api/settings/mcp", { token: "hf_read" });
    expect(body).toMatchObject({
      builtInTools: expect.arrayContaining(["hub_repo_search"]),
      spaceTools: [{ name: "acme/playground", subdomain: "acme-playground" }, {}],
    });
    expect((await hub.request("GET /api/settings/mcp", { token: null })).status).toBe(401);
  });

  test("change only where a request has values, of this user only", async () => {
    const [mine] = await getSettings(hub);
    const enabled = {
      launch_prepaid_credits: true,
      user_follows: false,
      product_updates_after: "2026-01-31T00:00:00Z",
    };
    const changed = { ...enabled, user_follows: true, launch_prepaid_credits: false };
    const steps: [body: object, expected: object][] = [
      [
        { notifications: enabled, prepaidAmount: "10" },
        { notifications: enabled, prepaidAmount: "10" },
      ],
      [
        { notifications: { user_follows: true, launch_prepaid_credits: false } },
        { notifications: changed, prepaidAmount: "10" },
      ],
      [{ notifications: {} }, { notifications: changed, prepaidAmount: "10" }],
      [
        { notifications: {}, prepaidAmount: "" },
        { notifications: changed, prepaidAmount: "" },
      ],
    ];
    for (const [body, expected] of steps) {
      const answer = await hub.request(notificationsPath, { ...other, body });
      expect([answer.status, answer.text]).toEqual([200, "{}"]);
      expect(await getSettings(hub)).toEqual([mine, { user: "other-user", watched: [], ...expected }]);
    }
  });

  test("contain the watched items that requests add and do not delete, each once", async () => {
    const [mine] = await getSettings(hub);
    const [org, user] = [
      { type: "org", id: "acme" },
      { type: "user", id: "acme" },
    ];
    const repo = { type: "repo", id: "acme/data" };
    const steps: [body: object, watched: object[]][] = [
      [{ add: [org, user, repo, org] }, [org, user, repo]],
      [{ delete: [user] }, [org, repo]],
      [{ add: [repo, user], delete: [user] }, [org, repo]],
      [{}, [org, repo]],
      [{ add: [], delete: [] }, [org, repo]],
      [{ delete: [user] }, [org, repo]],
    ];
    for (const [body, watched] of steps) {
      const answer = await hub.request(watchPath, { ...other, body });
      expect([answer.status, answer.text]).toEqual([200, "{}"]);
      expect(await getSettings(hub)).toEqual([mine, { user: "other-user", notifications: {}, watched }]);
    }
  });
});

describe("Claiming a paper", () => {
  const path = "POST /api/settings/papers/claim";
  const papers = z.array(
    z.object({
      paperId: z.string(),
      authors: z.array(z.strictObject({ id: z.string(), name: z.string(), claimedBy: z.string().optional() })),
    }),
  );
  const [ada, alan, localUser, otherUser] = ["ada-adams", "alan-adams", "local-user", "other-user"].map(accountId);
  // Ada Adams (claimed), Alan Adams, Local User.
  const small = "2601.04211";
  // Other User, Local User.
  const reviewers = "2512.11873";
  // Barbara Adams, Alan Adams.
  const rotary = "2511.00642";
  // Ada Adams (claimed).
  const cards = "2509.20035";

  let hub: TestHub;
  beforeEach(async () => {
    hub = await openLocalHub();
  });

  /** Returns the authors of a paper, as the control response lists them. */
  async function authorsOf(paperId: string) {
    const { body } = await hub.request("GET /_local/papers", { token: null });
    return papers.parse(body).find((known) => known.paperId === paperId)?.authors ?? [];
  }

  /** Sends a claim, and returns the users who have claimed the authors afterwards. */
  async function claim(body: { paperId: string } & Record<string, unknown>, { ok = true, token = "hf_local" } = {}) {
    const answer = await hub.request(path, { body, token });
    expect([answer.status, answer.body]).toEqual([200, { ok, claimedPaperId: body.paperId }]);
    return (await authorsOf(body.paperId)).map(({ claimedBy }) => claimedBy);
  }

  test("assigns the caller to the author with the same name, or to the first unclaimed author, once", async () => {
    expect(await claim({ paperId: reviewers })).toEqual([undefined, localUser]);
    expect(await claim({ paperId: small }, { token: "hf_other" })).toEqual([ada, otherUser, undefined]);
    for (let time = 0; time < 2; time += 1) expect(await claim({ paperId: rotary })).toEqual([localUser, undefined]);
    const [author] = await authorsOf(rotary);
    expect(await claim({ paperId: rotary, claimAuthorId: author?.id })).toEqual([localUser, undefined]);
  });

  test("accepts the ids of the author and of a user in any case, who is found by name without an author", async () => {
    expect(await claim({ paperId: rotary, targetUserId: alan })).toEqual([undefined, alan]);
    hub.hub.reset();
    const [, second] = await authorsOf(rotary);
    const ids = { claimAuthorId: second?.id.toUpperCase(), targetUserId: otherUser?.toUpperCase() };
    expect(await claim({ paperId: rotary, ...ids })).toEqual([undefined, otherUser]);
  });

  test("is rejected for an author whom another user has claimed, and for unknown papers, authors, and users", async () => {
    const [taken] = await authorsOf(small);
    const [otherAuthor] = await authorsOf(rotary);
    expect(await claim({ paperId: small, claimAuthorId: taken?.id }, { ok: false })).toEqual([
      ada,
      undefined,
      undefined,
    ]);
    expect(await claim({ paperId: cards }, { ok: false })).toEqual([ada]);
    const unknown = "0123456789abcdef01234567";
    const invalid = [
      ...[otherAuthor?.id, unknown].map((claimAuthorId) => ({ claimAuthorId })),
      ...[unknown, accountId("acme"), accountId("nobody")].map((targetUserId) => ({ targetUserId })),
    ];
    for (const ids of invalid) {
      const error = expect.stringMatching(new RegExp(`^${Object.keys(ids)[0]}: `));
      expect(await hub.request(path, { body: { paperId: small, ...ids } })).toMatchObject({
        status: 400,
        body: { error },
      });
    }
    for (const paperId of ["2601.04212", "__proto__", taken?.id]) {
      expect(await hub.request(path, { body: { paperId } })).toMatchObject({ status: 404 });
    }
    expect((await authorsOf(small)).map(({ claimedBy }) => claimedBy)).toEqual([ada, undefined, undefined]);
  });

  test("returns 404 for an ID that is longer than a header can be", async () => {
    const hub = await openLocalHub({ overSocket: true });
    expect(await hub.request(path, { body: { paperId: "x".repeat(20_000) } })).toMatchObject({ status: 404 });
  });
});
