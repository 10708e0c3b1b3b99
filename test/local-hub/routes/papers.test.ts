import { beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { accountId } from "../../../src/local-hub/accounts.ts";
import { openLocalHub, type TestHub } from "../support/hub.ts";
import { allOf } from "../support/notifications.ts";

const path = "POST /api/settings/papers/claim";
const objectId = z.string().regex(/^[0-9a-f]{24}$/);
const papers = z.array(
  z.strictObject({
    paperId: z.string(),
    objectId,
    title: z.string(),
    authors: z.array(z.strictObject({ id: objectId, name: z.string(), claimedBy: objectId.optional() })),
  }),
);

/** Returns the authors of a paper, as the control response lists them. */
async function authorsOf(hub: TestHub, paperId: string) {
  const { body } = await hub.request("GET /_local/papers", { token: null });
  const paper = papers.parse(body).find((known) => known.paperId === paperId);
  return paper?.authors ?? [];
}

/** Returns the users who claimed the authors, in order. */
async function claimsOf(hub: TestHub, paperId: string): Promise<(string | undefined)[]> {
  return (await authorsOf(hub, paperId)).map(({ claimedBy }) => claimedBy);
}

// Ada Adams (claimed), Alan Adams, Local User.
const small = "2601.04211";
// Other User, Local User.
const reviewers = "2512.11873";
// Barbara Adams, Alan Adams.
const rotary = "2511.00642";
// Ada Adams (claimed).
const cards = "2509.20035";

const localUser = accountId("local-user");
const otherUser = accountId("other-user");
const ada = accountId("ada-adams");

let hub: TestHub;
beforeEach(async () => {
  hub = await openLocalHub();
});

describe("The papers of a new local Hub", () => {
  test("are those of the notifications", async () => {
    const { body } = await hub.request("GET /_local/papers", { token: null });
    const known = papers.parse(body);
    expect(known.map(({ paperId }) => paperId)).toEqual([cards, rotary, reviewers, small]);
    const named = new Map(
      (await allOf(hub)).flatMap((told) => (told.type === "paper" ? [[told.paper._id, told.paper.title]] : [])),
    );
    expect(named).toEqual(new Map(known.map(({ objectId: id, title }) => [id, title])));
  });

  test("have some claimed authors, and one has only claimed ones", async () => {
    expect(await claimsOf(hub, small)).toEqual([ada, undefined, undefined]);
    expect(await claimsOf(hub, reviewers)).toEqual([undefined, undefined]);
    expect(await claimsOf(hub, cards)).toEqual([ada]);
  });
});

describe("Claiming a paper", () => {
  test("assigns the caller to the author with the same name", async () => {
    expect(await hub.request(path, { body: { paperId: reviewers } })).toMatchObject({
      status: 200,
      body: { ok: true, claimedPaperId: reviewers },
    });
    expect(await claimsOf(hub, reviewers)).toEqual([undefined, localUser]);
  });

  test("assigns the caller to the first unclaimed author if no name matches", async () => {
    await hub.request(path, { body: { paperId: small }, token: "hf_other" });
    expect(await claimsOf(hub, small)).toEqual([ada, otherUser, undefined]);
    expect((await hub.request(path, { body: { paperId: rotary } })).body).toMatchObject({ ok: true });
    expect(await claimsOf(hub, rotary)).toEqual([localUser, undefined]);
  });

  test("a second time changes nothing, and succeeds", async () => {
    for (let time = 0; time < 2; time += 1) {
      expect((await hub.request(path, { body: { paperId: rotary } })).body).toEqual({
        ok: true,
        claimedPaperId: rotary,
      });
      expect(await claimsOf(hub, rotary)).toEqual([localUser, undefined]);
    }
    const [author] = await authorsOf(hub, rotary);
    const again = await hub.request(path, { body: { paperId: rotary, claimAuthorId: author?.id } });
    expect(again.body).toEqual({ ok: true, claimedPaperId: rotary });
    expect(await claimsOf(hub, rotary)).toEqual([localUser, undefined]);
  });

  test.each(["lower", "upper"])("accepts the ids of the author and the user in %s case", async (letters) => {
    const cased = (id = "") => (letters === "upper" ? id.toUpperCase() : id);
    const [first, second] = await authorsOf(hub, rotary);
    const answer = await hub.request(path, {
      body: { paperId: rotary, claimAuthorId: cased(second?.id), targetUserId: cased(otherUser) },
    });
    expect(answer.body).toEqual({ ok: true, claimedPaperId: rotary });
    expect(await authorsOf(hub, rotary)).toEqual([first, { ...second, claimedBy: otherUser }]);
  });

  test("is possible for a member of an organization, by name", async () => {
    await hub.request(path, { body: { paperId: rotary, targetUserId: accountId("alan-adams") } });
    expect(await claimsOf(hub, rotary)).toEqual([undefined, accountId("alan-adams")]);
  });

  test("for an author whom another user has claimed is rejected, and changes nothing", async () => {
    const [taken] = await authorsOf(hub, small);
    const claimed = await hub.request(path, { body: { paperId: small, claimAuthorId: taken?.id } });
    expect([claimed.status, claimed.body]).toEqual([200, { ok: false, claimedPaperId: small }]);
    expect(await claimsOf(hub, small)).toEqual([ada, undefined, undefined]);
    const full = await hub.request(path, { body: { paperId: cards } });
    expect([full.status, full.body]).toEqual([200, { ok: false, claimedPaperId: cards }]);
    expect(await claimsOf(hub, cards)).toEqual([ada]);
  });

  test("returns 404 for an unknown paper", async () => {
    const hub = await openLocalHub({ overSocket: true });
    const [author] = await authorsOf(hub, small);
    // The last one is longer than a header can be.
    for (const paperId of ["2601.04212", "__proto__", author?.id, "x".repeat(20_000)]) {
      const answer = await hub.request(path, { body: { paperId } });
      expect([answer.status, answer.body]).toEqual([404, { error: expect.stringContaining(String(paperId)) }]);
    }
  });

  test("returns 400 for an unknown author and an unknown user", async () => {
    const [stranger] = await authorsOf(hub, rotary);
    const unknown = "0123456789abcdef01234567";
    for (const claimAuthorId of [stranger?.id, unknown]) {
      const answer = await hub.request(path, { body: { paperId: small, claimAuthorId } });
      expect([answer.status, answer.body]).toEqual([400, { error: expect.stringMatching(/^claimAuthorId: /) }]);
    }
    for (const targetUserId of [unknown, accountId("acme"), accountId("nobody")]) {
      const answer = await hub.request(path, { body: { paperId: small, targetUserId } });
      expect([answer.status, answer.body]).toEqual([400, { error: expect.stringMatching(/^targetUserId: /) }]);
    }
    expect(await claimsOf(hub, small)).toEqual([ada, undefined, undefined]);
  });
});
