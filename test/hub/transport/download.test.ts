import { beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "zod/mini";
import { Transport, type TransportSettings } from "../../../src/hub/transport/transport.ts";
import { fetchScripted, openHub, rejectionOf, type ScriptedAnswer, token } from "../scripted-hub.ts";

const readFile = {
  requestLine: "GET /{repo}/resolve/{path}",
  operationId: "readFile",
  summary: "Read a file",
  request: { params: z.object({ repo: z.string(), path: z.string() }) },
  response: z.unknown(),
} as const;

const params = { repo: "data", path: "a folder/ü.bin" };
const redirectTo = (location: string): ScriptedAnswer => ({ status: 302, headers: { location } });

function open(hubUrl: string, settings: Partial<TransportSettings> = {}) {
  const transport = new Transport({
    hubUrl,
    findToken: async () => token,
    fetch: fetchScripted,
    timeoutMs: 2000,
    attempts: 2,
    wait: async () => {},
    ...settings,
  });
  return (maxBytes = 1000) => transport.download(readFile, { params }, { maxBytes });
}

describe("A download", () => {
  test("with more than maxBytes bytes fails without a retry", async () => {
    const hub = await openHub({ text: "content" });
    expect(await rejectionOf(open(hub.url)(6))).toMatchObject({ code: "FILE_TOO_LARGE" });
    expect(hub.requests).toHaveLength(1);
    expect(await open(hub.url)(7)).toHaveLength(7);
  });

  test("is repeated after an interrupted response", async () => {
    const hub = await openHub(
      (_request, response) => {
        response.writeHead(200, { "content-length": "100" }).write("cont");
        setImmediate(() => response.destroy());
      },
      { text: "content" },
    );
    expect(await open(hub.url)()).toHaveLength(7);
  });
});

describe("A redirected download", () => {
  test("does not send the token to another server", async () => {
    const storage = await openHub({ text: "large" });
    const hub = await openHub(redirectTo(`${storage.url}/object?signature=1`));
    expect(await open(hub.url)()).toHaveLength(5);
    expect(storage.calls).toEqual(["GET /object?signature=1"]);
    expect(storage.requests[0]?.headers).not.toHaveProperty("authorization");
    expect(JSON.stringify(storage.requests[0]?.headers)).not.toContain(token);
  });

  test("sends the token to the new name of the repository on the Hub", async () => {
    const hub = await openHub(redirectTo("/renamed/resolve/a"), { text: "content" });
    expect(await open(hub.url)()).toHaveLength(7);
    expect(hub.requests[1]).toMatchObject({
      path: "/renamed/resolve/a",
      headers: { authorization: `Bearer ${token}` },
    });
  });

  test("does not send the token to the Hub if another server redirects to the Hub", async () => {
    const paths: string[] = [];
    const hub = await openHub((request, response) => {
      paths.push(`${request.url} ${request.headers.authorization ? "with" : "without"} token`);
      const isFirst = paths.length === 1;
      response.writeHead(isFirst ? 302 : 200, isFirst ? { location: storage.url } : {}).end("content");
    });
    const storage = await openHub(redirectTo(`${hub.url}/api/settings`));
    await open(hub.url)();
    expect(paths).toEqual(["/data/resolve/a%20folder/%C3%BC.bin with token", "/api/settings without token"]);
  });

  test("cancels the body of the redirect, which may not end", async () => {
    const cancel = vi.fn();
    const redirect = new Response(new ReadableStream({ cancel }), { status: 302, headers: { location: "/renamed" } });
    const answers = [redirect, new Response("content")];
    const fetch = async () => answers.shift() ?? Response.error();
    expect(await open("https://hub.example", { fetch })()).toHaveLength(7);
    expect(cancel).toHaveBeenCalledOnce();
  });

  test("ends after five redirects", async () => {
    const hub = await openHub(redirectTo("/again"));
    expect(await rejectionOf(open(hub.url)())).toMatchObject({ code: "HUB_REFUSED", status: 302 });
    expect(hub.requests).toHaveLength(6);
  });
});

test("A browser follows redirects itself, because it hides their targets", async () => {
  const redirects: unknown[] = [];
  const download = open("https://hub.example", {
    async fetch(_input, init) {
      redirects.push(init?.redirect);
      if (init?.redirect === "follow") return new Response("content");
      return Object.defineProperty(Response.error(), "type", { value: "opaqueredirect" });
    },
  });
  expect(await download()).toHaveLength(7);
  expect(redirects).toEqual(["manual", "follow"]);
});

describe("A Hub", () => {
  const requested: string[] = [];
  beforeEach(() => void requested.splice(0));

  function fetchRedirectedTo(location: string): typeof fetch {
    return async (input) => {
      requested.push(String(input));
      return requested.length === 1
        ? new Response(null, { status: 302, headers: { location } })
        : new Response("content");
    };
  }

  /** Whether a Hub can redirect a download to this location. */
  async function canRedirect(hubUrl: string, location: string): Promise<boolean> {
    requested.splice(0);
    const download = open(hubUrl, { fetch: fetchRedirectedTo(location) })();
    const result = await download.catch((error: unknown) => error);
    if (result instanceof Uint8Array) return requested[1] === new URL(location).href;
    expect(result).toMatchObject({ code: "HUB_REFUSED", status: 302 });
    expect(requested).toHaveLength(1);
    return false;
  }

  const words = (...lines: string[]) => lines.join(" ").split(" ");
  const machine = words(
    "127.0.0.1 127.1.2.3 127.1 2130706433 0x7f.1 0177.0.0.1 %31%32%37.0.0.1 0.0.0.0 0 0.1.2.3 127.0.0.1.",
    "localhost LOCALHOST localhost. hub.localhost hub.localhost. [::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1]",
    "[::ffff:7f12:1] [::ffff:0.0.0.0] [::ffff:0:1]",
  );
  const network = words(
    "10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 192.0.0.192 198.18.0.1 224.0.0.1 0xa9fea9fe 0xa.0.0.1",
    "255.255.255.255 1.1.1.1 [::ffff:10.0.0.1] [::ffff:169.254.169.254] [fe80::1] [fc00::1] [fd00:ec2::254] [ff02::1]",
    "[64:ff9b::a00:1] [2002:7f00:1::] [::127.0.0.1] [::2] [2606:4700::1111] metadata intranet.",
    "metadata.google.internal printer.local nas.home.arpa",
  );
  const internet = words(
    "storage.example storage.example. cdn-lfs.hf.co 127.example 10.0.0.1.nip.io localhost.example",
  );

  test.each([
    { hub: "https://hub.example", refused: [...machine, ...network], allowed: internet },
    { hub: "https://hub.internal", refused: machine, allowed: [...network, ...internet] },
    { hub: "http://10.0.0.4:5050", refused: machine, allowed: [...network, ...internet] },
    { hub: "http://hub:5050", refused: machine, allowed: [...network, ...internet] },
    { hub: "http://127.0.0.1:5050", refused: [], allowed: [...machine, ...network, ...internet] },
    { hub: "http://localhost:5050", refused: [], allowed: [...machine, ...network, ...internet] },
  ])("at $hub redirects only to hosts that are as public as itself", async ({ hub, refused, allowed }) => {
    for (const host of refused) expect([host, await canRedirect(hub, `https://${host}/x`)]).toEqual([host, false]);
    for (const host of allowed) expect([host, await canRedirect(hub, `https://${host}/x`)]).toEqual([host, true]);
    // Others could read the request.
    for (const host of ["10.0.0.1", "storage.example"]) expect(await canRedirect(hub, `http://${host}/x`)).toBe(false);
    expect(await canRedirect(hub, "http://127.0.0.1/x")).toBe(refused.length === 0);
  });

  test.each(["https://user:password@storage.example/", "file:///etc/passwd", "data:,content", "https://"])(
    "cannot redirect a download to %s",
    async (location) => {
      expect(await canRedirect("https://hub.example", location)).toBe(false);
    },
  );
});
