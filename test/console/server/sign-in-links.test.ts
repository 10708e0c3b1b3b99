import { describe, expect, test } from "vitest";
import { SignInLinks } from "../../../src/console/server/access.ts";

const hour = 3_600_000;
const url = "https://bot.example/hub/_console/";

function createLinks(clock = { now: 5_000 }) {
  const links = new SignInLinks(() => clock.now);
  return { clock, links, create: () => codeIn(links.create(url)) };
}

function codeIn(link: string): string {
  return link.slice(link.lastIndexOf("/") + 1);
}

describe("A sign-in link", () => {
  test("has its code in the fragment, which browsers do not send", () => {
    const { links } = createLinks();
    const { origin, pathname, search, hash } = new URL(links.create(url));
    expect({ origin, pathname, search }).toEqual({
      origin: "https://bot.example",
      pathname: "/hub/_console/",
      search: "",
    });
    expect(hash).toMatch(/^#\/sign-in\/[\da-f]{32}$/);
  });

  test("is valid once", () => {
    const { links, create } = createLinks();
    const code = create();
    expect([links.use(code), links.use(code)]).toEqual([true, false]);
  });

  test("is valid for one hour", () => {
    const { links, clock, create } = createLinks();
    const [first, second] = [create(), create()];
    clock.now += hour - 1;
    expect(links.use(first)).toBe(true);
    clock.now += 1;
    expect(links.use(second)).toBe(false);
  });

  test("has its own code, and other codes are not valid", () => {
    const { links, create } = createLinks();
    const codes = Array.from({ length: 20 }, create);
    expect(new Set(codes).size).toBe(20);
    for (const wrong of ["", "undefined", "__proto__", `${codes[0]} `, `${codes[1]}0`]) {
      expect([wrong, links.use(wrong)]).toEqual([wrong, false]);
    }
    expect(codes.map((code) => links.use(code))).toEqual(Array(20).fill(true));
  });

  test("replaces the oldest of 20 links", () => {
    const { links, create } = createLinks();
    const codes = Array.from({ length: 21 }, create);
    expect(codes.map((code) => links.use(code))).toEqual([false, ...Array(20).fill(true)]);
  });
});
