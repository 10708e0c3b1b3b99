import type { ServerResponse } from "node:http";
import { describe, expect, test, vi } from "vitest";
import { nextQuery } from "../../src/hub/pages.ts";
import { waitFor } from "../support/wait-for.ts";
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

const path = "GET /api/organizations/acme/audit-log/export";

function event(message: string) {
  return {
    _id: "65b2f0a1c3d4e5f60718293a",
    createdAt: "2026-01-31T09:15:27.123Z",
    type: "org.add_user",
    message,
    author: { _id: "65b2f0a1c3d4e5f60718293b", user: "ada", avatarUrl: "/ada.svg", type: "user" },
  };
}

/** Returns a hand-written response body. */
function byHand(begin: (response: ServerResponse) => void): ScriptedAnswer {
  return (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    begin(response);
  };
}

describe("hub.organizations.auditLog", () => {
  test("sends its query, and yields every event unchanged", async () => {
    const events = [{ ...event("ü"), data: { any: [1, null] }, oauth: { clientId: "c" }, ip: "192.0.2.1" }, event("b")];
    const hub = await openHub({ json: events });
    const search = { q: "author:ada type:org.add_user ip:192.0.2.1" };
    expect(await allOf(connect(hub.url).organizations.auditLog("acme", search))).toEqual(events);
    expect(hub.calls).toEqual([`${path}?q=author%3Aada+type%3Aorg.add_user+ip%3A192.0.2.1`]);
  });

  test("yields an event as soon as it arrives, before the rest of the response", async () => {
    let rest: ServerResponse | undefined;
    const hub = await openHub(
      byHand((response) => {
        rest = response;
        response.write(`[${JSON.stringify(event("first"))},`);
      }),
    );
    const events = connect(hub.url).organizations.auditLog("acme");
    expect((await events.next()).value).toMatchObject({ message: "first" });
    const bytes = Buffer.from(`${JSON.stringify(event("größer"))}]`);
    const middle = bytes.indexOf("ß") + 1; // In the middle of a character.
    rest?.write(bytes.subarray(0, middle));
    rest?.end(bytes.subarray(middle));
    expect((await events.next()).value).toMatchObject({ message: "größer" });
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  test("closes the connection when the loop ends early", async () => {
    const gone = vi.fn();
    const hub = await openHub(
      byHand((response) => {
        response.on("close", gone);
        response.write(`[${JSON.stringify(event("first"))},`);
      }),
    );
    for await (const { message } of connect(hub.url).organizations.auditLog("acme")) {
      expect(message).toBe("first");
      break;
    }
    await waitFor(() => expect(gone).toHaveBeenCalled());
  });

  test("retries a failure before the first event, but not after it", async () => {
    const broken = byHand((response) =>
      response.write(`[${JSON.stringify(event("first"))},`, () => response.destroy()),
    );
    const hub = await openHub({ status: 503 }, { status: 503 }, broken);
    const events = connect(hub.url).organizations.auditLog("acme");
    expect((await events.next()).value).toMatchObject({ message: "first" });
    const error = await rejectionOf(events.next());
    expect(error).toMatchObject({ code: "HUB_UNREACHABLE", retryable: true });
    expect(hub.calls).toHaveLength(3);
  });

  test.each([
    ["an object", { json: { error: "Planted" } }],
    ["a web page", { text: "<html>Planted</html>" }],
    ["nothing", { text: "" }],
    ["text that is not JSON between its events", { text: `[${JSON.stringify(event("a"))}, Planted]` }],
    ["an event without an author", { json: [{ ...event("a"), author: undefined }] }],
  ])("throws for a response that is %s, without quoting it", async (_what, answer) => {
    const hub = await openHub(answer);
    const error = await rejectionOf(allOf(connect(hub.url).organizations.auditLog("acme")));
    expect(error).toMatchObject({ code: "HUB_RESPONSE_INVALID" });
    expect(String(error)).toContain("export the audit log");
    expect(String(error)).not.toContain("Planted");
  });

  test.each(["[", `[${JSON.stringify(event("a"))}`, `[${JSON.stringify(event("a"))},`])(
    "throws a retryable error if the response is incomplete: %s",
    async (text) => {
      const hub = await openHub({ text });
      const error = await rejectionOf(allOf(connect(hub.url).organizations.auditLog("acme")));
      expect(error).toMatchObject({ code: "HUB_UNREACHABLE", retryable: true });
      expect(String(error)).toContain("incomplete");
    },
  );

  test("throws when the rest of the response does not arrive in time", async () => {
    const hub = await openHub(byHand((response) => response.write(`[${JSON.stringify(event("first"))},`)));
    const events = connect(hub.url, { timeoutMs: 300, attempts: 1 }).organizations.auditLog("acme");
    await events.next();
    expect(await rejectionOf(events.next())).toMatchObject({ code: "HUB_TIMED_OUT", retryable: true });
  });

  test("throws the reason of its signal immediately, even after the whole response has arrived", async () => {
    const hub = await openHub({ json: [event("first"), event("second")] });
    const controller = new AbortController();
    const reason = new Error("enough");
    const seen: string[] = [];
    const error = await rejectionOf(
      (async () => {
        for await (const { message } of connect(hub.url).organizations.auditLog("acme", {}, controller)) {
          seen.push(message);
          controller.abort(reason);
        }
      })(),
    );
    expect([error, seen]).toEqual([reason, ["first"]]);
  });
});
