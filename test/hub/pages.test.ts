import { describe, expect, test } from "vitest";
import { nextQuery } from "../../src/hub/pages.ts";
import { allOf, connect, openHub, rejectionOf, type ScriptedAnswer } from "./scripted-hub.ts";

/** Returns a page of members, with the URL of the next page if there is one. */
function page(users: readonly string[], next?: string): ScriptedAnswer {
  return { json: users.map(member), ...(next !== undefined && { headers: { link: `<${next}>; rel="next"` } }) };
}

function member(user: string) {
  const _id = "65b2f0a1c3d4e5f60718293a";
  return { _id, avatarUrl: `/avatars/${user}.svg`, fullname: user.toUpperCase(), isPro: false, user, type: "user" };
}

describe("A paginated list", () => {
  test("requests each page when the loop needs it", async () => {
    const hub = await openHub(
      page(["ada", "grace"], "https://huggingface.co/api/organizations/acme/members?cursor=2&limit=10&search=a+b"),
      page(["ken"], "https://huggingface.co/api/organizations/acme/members?cursor=3&limit=10&search=a+b"),
      page([]),
    );
    const users: string[] = [];
    for await (const { user } of connect(hub.url).organizations.members("acme", { limit: 10, search: "a b" })) {
      users.push(`${user} ${hub.calls.length}`);
    }
    expect(users).toEqual(["ada 1", "grace 1", "ken 2"]);
    expect(hub.calls).toEqual([
      "GET /api/organizations/acme/members?search=a+b&limit=10",
      "GET /api/organizations/acme/members?cursor=2&limit=10&search=a+b",
      "GET /api/organizations/acme/members?cursor=3&limit=10&search=a+b",
    ]);
  });

  test("yields whole pages with pages()", async () => {
    const hub = await openHub(page(["ada", "grace"], "/x?cursor=2"), page([], "/x?cursor=3"), page(["ken"]));
    const pages: string[][] = [];
    for await (const members of connect(hub.url).organizations.members("acme").pages()) {
      pages.push(members.map(({ user }) => user));
    }
    expect(pages).toEqual([["ada", "grace"], [], ["ken"]]);
  });

  test("requests no page that the loop does not need", async () => {
    const hub = await openHub(page(["ada", "grace"], "/x?cursor=2"), page(["ken"]));
    const members = connect(hub.url).organizations.members("acme");
    expect(hub.calls).toEqual([]);
    for await (const { user } of members) if (user === "grace") break;
    expect(hub.calls).toHaveLength(1);
    for await (const { user } of members) expect(user).toBe("ken");
    expect(hub.calls).toEqual(Array(2).fill("GET /api/organizations/acme/members"));
  });

  test("never sends the token to the host of a link", async () => {
    const elsewhere = await openHub(page(["mallory"]));
    const hub = await openHub(page(["ada"], `${elsewhere.url}/api/organizations/evil/members?cursor=2`), page(["ken"]));
    const users: string[] = [];
    for await (const { user } of connect(hub.url).organizations.members("acme")) users.push(user);
    expect(users).toEqual(["ada", "ken"]);
    expect(elsewhere.calls).toEqual([]);
    expect(hub.calls.at(-1)).toBe("GET /api/organizations/acme/members?cursor=2");
  });

  test("stops with an error when pages link to each other", async () => {
    const hub = await openHub(page(["ada"], "/x?cursor=2"), page(["ken"], "/x?cursor=3"), page(["ken"], "/x?cursor=2"));
    const error = await rejectionOf(allOf(connect(hub.url).organizations.members("acme")));
    expect(error).toMatchObject({ code: "HUB_RESPONSE_INVALID" });
    expect(String(error)).toContain("pages in a cycle");
    expect(hub.calls).toHaveLength(3);
  });

  test.each([
    { what: "in a page", hubAnswers: [page(["ada", "grace"])] },
    { what: "after a page", hubAnswers: [page(["ada"], "/x?cursor=2"), page(["ken"])] },
    { what: "after the last page", hubAnswers: [page(["ada"])] },
  ])("throws the reason of its signal if it aborts $what", async ({ hubAnswers }) => {
    const hub = await openHub(...hubAnswers);
    const controller = new AbortController();
    const reason = new Error("enough");
    const members = connect(hub.url).organizations.members("acme", {}, { signal: controller.signal });
    const seen: string[] = [];
    const error = await rejectionOf(
      (async () => {
        for await (const { user } of members) {
          seen.push(user);
          controller.abort(reason);
        }
      })(),
    );
    expect(error).toBe(reason);
    expect([seen, hub.calls.length]).toEqual([["ada"], 1]);
  });
});

describe("pages() of a list", () => {
  test("throws the reason of its signal, even after the last page", async () => {
    const hub = await openHub(page(["ada"]));
    const controller = new AbortController();
    const pages = connect(hub.url).organizations.members("acme", {}, controller).pages();
    expect((await pages.next()).value).toHaveLength(1);
    controller.abort("enough");
    expect(await rejectionOf(pages.next())).toBe("enough");
  });
});

describe("nextQuery", () => {
  test.each<[string | null, string | undefined]>([
    [null, undefined],
    ["", undefined],
    ['<https://hub.example/x?cursor=a%2Bb>; rel="next"', "cursor=a%2Bb"],
    ["</x?cursor=2>; rel=next", "cursor=2"],
    ["<?cursor=2>;rel=NEXT", "cursor=2"],
    ['</x?p=0>; rel="prev", </x?p=2>; rel="next"', "p=2"],
    ['</x?p=2>; rel="next", </x?p=9>; rel="last"', "p=2"],
    ['</x?p=2>; title="a, b; rel=last"; rel="last next"', "p=2"],
    ['</x?p=2>; title="; rel=next"; rel=prev', undefined],
    ['</x?p=1>; title="</x?p=9>; rel=next", </x?p=2>; rel=next', "p=2"],
    ["<".repeat(50_000), undefined],
    ['</x?p=2>; rel="last next"; title="x"', "p=2"],
    ['</x?p=2>; rel="nextone"', undefined],
    ["</x?p=2>; rel=prev", undefined],
    ["/x?p=2", undefined],
    ['<http://[>; rel="next"', undefined],
  ])("reads the query of the next page: %j: %j", (link, query) => {
    expect(nextQuery(link)?.toString()).toBe(query);
  });
});
