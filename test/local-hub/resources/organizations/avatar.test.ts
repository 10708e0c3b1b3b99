import { describe, expect, test } from "vitest";
import { openLocalHub, shareLocalHub } from "../../support/hub.ts";

const path = "/api/organizations/acme/avatar";
const hub = await shareLocalHub();

/** Requests the avatar without following redirects, and returns the first response. */
async function askOnce({ target = path, headers = {} }: { target?: string; headers?: object } = {}) {
  const response = await fetch(`${hub.url}${target}`, {
    redirect: "manual",
    headers: { authorization: "Bearer hf_local", ...headers },
  });
  return { status: response.status, location: response.headers.get("location"), text: await response.text() };
}

/** Requests the picture of a name, without a token. */
async function picture(name: string, { url } = hub): Promise<{ headers: Headers; svg: string }> {
  const response = await fetch(`${url}/avatars/${encodeURIComponent(name)}.svg`);
  expect(response.status).toBe(200);
  return { headers: response.headers, svg: await response.text() };
}

describe("The avatar of an organization", () => {
  test("is returned with each token", async () => {
    for (const token of ["hf_local", "hf_read", "hf_fine", "hf_other"]) {
      const { status, body } = await hub.request("GET /api/organizations/free-org/avatar", { token });
      expect({ status, body }).toEqual({ status: 200, body: { avatarUrl: `${hub.url}/avatars/free-org.svg` } });
    }
  });

  test("is a redirect to the picture for an image, and with any redirect parameter", async () => {
    const image = { headers: { "sec-fetch-dest": "image" } };
    const queries = [
      "?redirect=true",
      "?redirect=1",
      "?redirect=false",
      "?redirect=",
      "?redirect",
      "?redirect&size=64",
    ];
    for (const request of [...queries.map((query) => ({ target: path + query })), image]) {
      expect(await askOnce(request)).toMatchObject({ status: 302, location: `${hub.url}/avatars/acme.svg` });
    }
    for (const destination of ["document", "empty", "script", "images", ""]) {
      const { status, text } = await askOnce({ headers: { "sec-fetch-dest": destination } });
      expect([status, JSON.parse(text)]).toEqual([200, { avatarUrl: `${hub.url}/avatars/acme.svg` }]);
    }
    for (const name of ["nobody", "local-user"]) {
      const target = `/api/organizations/${name}/avatar?redirect`;
      expect(await askOnce({ target })).toMatchObject({ status: 404 });
    }
  });
});

describe("An avatar picture", () => {
  test("depends only on the name, contains no scripts, and loads nothing", async () => {
    const { headers, svg } = await picture("acme");
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" .*>A<\/text>/s);
    expect((await picture("acme", await openLocalHub())).svg).toBe(svg);
    const colours = await Promise.all(
      ["acme", "ada-adams", "alan-adams", "other-user"].map(async (name) => {
        return /<rect [^>]*fill="([^"]+)"/.exec((await picture(name)).svg)?.[1];
      }),
    );
    expect(new Set(colours).size).toBe(4);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "image/svg+xml; charset=utf-8",
      "x-content-type-options": "nosniff",
    });
    const policy = (headers.get("content-security-policy") ?? "").split("; ");
    expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "frame-ancestors 'none'", "sandbox"]));
    expect(policy.filter((rule) => /^(script|style|img)-src/.test(rule))).toEqual([]);
  });

  test.each([
    { what: "markup", name: "<script>alert(1)</script>" },
    { what: "markup after a quote", name: '"><script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>' },
    { what: "an attribute", name: "a' onload='alert(1)" },
    { what: "closing characters of XML", name: "]]>&x;<!--" },
    { what: "a slash", name: "a/b" },
    { what: "dots", name: ".." },
    { what: "characters that are invalid in XML", name: "\u0000\u001b\uffff" },
    { what: "characters outside of Latin", name: "李小龙😀" },
    { what: "a file extension", name: "a.svg" },
    { what: "a very long name", name: "x".repeat(2_000) },
  ])("contains the name escaped: $what", async ({ name }) => {
    const tags = (svg: string) => svg.match(/<[^>]*>/g)?.map((tag) => tag.replace(/(\w)="[^"']*"/g, "$1"));
    const { svg } = await picture(name);
    expect(tags(svg)).toEqual(tags((await picture("acme")).svg));
    expect(svg).not.toMatch(/[\u0000-\u0008\u000b-\u001f\uffff]/);
    const title = name
      .replace(/[\u0000\u001b\uffff]/g, "\ufffd")
      .replace(/[&<>"']/g, (sign) => `&${{ "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "#39" }[sign]};`);
    expect(svg).toContain(` aria-label="${title}">`);
  });

  test("is 404 for a file name that is not a name with .svg", async () => {
    for (const file of ["acme", "acme.png", ".svg", "acme.svg/x"]) {
      expect((await fetch(`${hub.url}/avatars/${file}`)).status, file).toBe(404);
    }
  });
});
