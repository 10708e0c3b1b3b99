import { describe, expect, test } from "vitest";
import { openLocalHub, shareLocalHub } from "../../support/hub.ts";

describe("Avatars", async () => {
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

  /** Requests a picture by the URL in a response, without a token. */
  async function picture(address: string): Promise<{ headers: Headers; svg: string }> {
    const response = await fetch(address);
    expect(response.status).toBe(200);
    return { headers: response.headers, svg: await response.text() };
  }

  describe("The avatar of an organization", () => {
    test.each(["acme", "enterprise-org", "team-org", "free-org"])(
      "is returned without a token and can be loaded: %s",
      async (name) => {
        for (const token of ["hf_local", "hf_read", "hf_fine", "hf_other"]) {
          const { status, body } = await hub.request(`GET /api/organizations/${name}/avatar`, { token });
          expect({ status, body }).toEqual({ status: 200, body: { avatarUrl: `${hub.url}/avatars/${name}.svg` } });
        }
        const { headers, svg } = await picture(`${hub.url}/avatars/${name}.svg`);
        expect(headers.get("content-type")).toBe("image/svg+xml; charset=utf-8");
        expect(svg).toMatch(
          new RegExp(`^<svg xmlns="http://www.w3.org/2000/svg" .*>${name.charAt(0).toUpperCase()}</text>`, "s"),
        );
      },
    );

    test("is a redirect to the picture for an image, and with any redirect parameter", async () => {
      const queries = ["?redirect=true", "?redirect=1", "?redirect=false", "?redirect=", "?redirect"];
      const image = { headers: { "sec-fetch-dest": "image" } };
      const requests = [
        ...queries.map((query) => ({ target: path + query })),
        image,
        { ...image, target: `${path}?redirect=x` },
      ];
      for (const request of requests) {
        const { status, location } = await askOnce(request);
        expect({ status, location }).toEqual({ status: 302, location: `${hub.url}/avatars/acme.svg` });
      }
      expect((await picture(`${hub.url}/avatars/acme.svg`)).headers.get("content-type")).toMatch(/^image\/svg\+xml/);
    });

    test("is JSON for a request that is not for an image", async () => {
      for (const destination of ["document", "empty", "script", "images", ""]) {
        const { status, text } = await askOnce({ headers: { "sec-fetch-dest": destination } });
        expect(status, destination).toBe(200);
        expect(JSON.parse(text)).toEqual({ avatarUrl: `${hub.url}/avatars/acme.svg` });
      }
    });

    test("does not redirect for an unknown organization, and ignores an unknown parameter", async () => {
      expect(await askOnce({ target: "/api/organizations/nobody/avatar?redirect" })).toMatchObject({ status: 404 });
      expect(await askOnce({ target: "/api/organizations/local-user/avatar" })).toMatchObject({ status: 404 });
      expect(await askOnce({ target: `${path}?redirect&size=64` })).toMatchObject({ status: 302 });
    });
  });

  describe("An avatar picture", () => {
    test("depends only on the name", async () => {
      const again = await openLocalHub();
      const names = ["acme", "ada-adams", "alan-adams", "other-user"];
      const drawn = await Promise.all(names.map((name) => picture(`${hub.url}/avatars/${name}.svg`)));
      const colours = drawn.map(({ svg }) => /<rect [^>]*fill="([^"]+)"/.exec(svg)?.[1]);
      expect(new Set(colours).size).toBe(names.length);
      expect((await picture(`${again.url}/avatars/acme.svg`)).svg).toBe(drawn[0]?.svg);
    });

    test("contains no scripts and loads nothing", async () => {
      const { headers } = await picture(`${hub.url}/avatars/acme.svg`);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
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
      { what: "Chinese", name: "李小龙" },
      { what: "a character outside the first 65,536", name: "😀" },
      { what: "a file extension", name: "a.svg" },
      { what: "a very long name", name: "x".repeat(2_000) },
    ])("contains the name escaped: $what", async ({ name }) => {
      const tags = (svg: string) => svg.match(/<[^>]*>/g)?.map((tag) => tag.replace(/(\w)="[^"']*"/g, "$1"));
      const plain = await picture(`${hub.url}/avatars/acme.svg`);
      const { svg } = await picture(`${hub.url}/avatars/${encodeURIComponent(name)}.svg`);
      expect(tags(svg)).toEqual(tags(plain.svg));
      expect(svg).not.toMatch(/[\u0000-\u0008\u000b-\u001f\uffff]/);
      const title = name
        .replace(/[\u0000\u001b\uffff]/g, "\ufffd")
        .replace(/[&<>"']/g, (sign) => `&${{ "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "#39" }[sign]};`);
      expect(svg).toContain(` aria-label="${title}">`);
    });

    test.each(["acme", "acme.png", ".svg", "acme.svg/x"])(
      "is 404 for a file name that is not a name with .svg: %s",
      async (file) => {
        expect((await fetch(`${hub.url}/avatars/${file}`)).status).toBe(404);
      },
    );
  });
});
