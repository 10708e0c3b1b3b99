import { describe, expect, test } from "vitest";
import {
  isLoopbackAddress,
  isLoopbackHost,
  maskSecretsOf,
  maskUrl,
  readBaseUrl,
  secretsInUrl,
  wantsHtml,
} from "../../src/core/urls.ts";

test.each([
  ["https://a.example/hook?secret=abc", "https://a.example/hook?secret=***"],
  ["https://a.example/hook?x=1&SECRET=abc&y=2#z", "https://a.example/hook?x=1&SECRET=***&y=2#z"],
  ["https://me:pass@a.example/hook", "https://me:***@a.example/hook"],
  ["https://me:p@ss@a.example/hook", "https://me:***@a.example/hook"],
  ["https://a.example:8080/users/@me?secretary=x", "https://a.example:8080/users/@me?secretary=x"],
  ["https://me@a.example/hook", "https://me@a.example/hook"],
])("A masked URL of %s is %s", (url, masked) => {
  expect(maskUrl(url)).toBe(masked);
});

test.each([
  ["https://a.example/hook?secret=abc", ["abc"]],
  ["https://a.example/hook?x=1&SECRET=a%20b#z", ["a%20b", "a b"]],
  ["https://me:p%40ss@a.example/hook", ["p%40ss", "p@ss"]],
  ["https://a.example/hook?secret=%ff", ["%ff"]],
  ["https://a.example/hook?secretary=x", []],
])("The secrets of a URL of %s are %j", (url, secrets) => {
  expect(secretsInUrl(url)).toEqual(secrets);
});

test.each([
  ["https://bot.example.com", "https://bot.example.com"],
  ["http://127.0.0.1:7860/", "http://127.0.0.1:7860"],
  ["https://bot.example.com/hooks//", "https://bot.example.com/hooks"],
  ["HTTPS://BOT.example.com", "https://bot.example.com"],
])("The base URL %s is read as %s", (address, read) => {
  expect(readBaseUrl(address)).toBe(read);
});

test.each([
  ...["", "bot.example.com", "ftp://bot.example.com", "javascript:alert(1)", "https://me@bot.example.com"],
  ...["https://:secret@bot.example.com", "https://bot.example.com?secret=x", "https://bot.example.com/#top"],
])("%j is not a base URL", (address) => {
  expect(readBaseUrl(address)).toBeUndefined();
});

test.each([
  ["redis://user:pl4nted-9a27c1d0@h", "refused pl4nted-9a27c1d0", "refused ***"],
  ["redis://pl4nted-9a27c1d0@h", "no user pl4nted-9a27c1d0", "no user ***"],
  ["redis://pl4nted-user-9a27:x@h", "no user pl4nted-user-9a27", "no user ***"],
  ["postgres://u:pl4nted%2F9a27c1d0@h/db", "refused pl4nted/9a27c1d0", "refused ***"],
  ["postgres://u:pl4nted/9a27c1d0@h/db", "refused pl4nted/9a27c1d0", "refused ***"],
  ["postgres://u:postgres@h/postgres", "postgres://u:postgres@h has no postgres", "postgres://u:***@h has no postgres"],
  ["sqlite:./a@b.db", "cannot open ./a@b.db", "cannot open ./a@b.db"],
])("The secrets of %s are masked in an error", (url, text, masked) => {
  expect(maskSecretsOf(url, text)).toBe(masked);
});

const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

test.each([
  ["of a browser", { method: "GET", accept }, true],
  ["of a browser that only requests the headers", { method: "HEAD", accept }, true],
  ["of the Hub", { method: "POST", accept }, false],
  ["of curl", { method: "GET", accept: "*/*" }, false],
  ["that accepts JSON", { method: "GET", accept: "application/json" }, false],
  ["that does not say", { method: "GET", accept: undefined }, false],
])("wantsHtml() %s: %j", (_who, request, isWanted) => {
  expect(wantsHtml(request)).toBe(isWanted);
});

describe("isLoopbackAddress()", () => {
  test.each(["127.0.0.1", "127.0.0.0", "127.1.2.3", "127.255.255.255", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"])(
    "is %s",
    (address) => expect(isLoopbackAddress(address)).toBe(true),
  );

  test.each([
    ...["0.0.0.0", "126.255.255.255", "128.0.0.0", "10.0.0.1", "192.168.0.1", "169.254.169.254", "255.255.255.255"],
    ...["::", "::2", "fe80::1", "fd00::1", "2001:db8::1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "64:ff9b::7f00:1"],
    ...["127.0.0", "127.0.0.256", "127.0.0.01", "127.0.0.1.nip.io", "::1]/x", "::1]@evil.com", "::1%lo", "1"],
  ])("is not %s", (address) => expect(isLoopbackAddress(address)).toBe(false));
});

describe("isLoopbackHost()", () => {
  test.each(["localhost", "LOCALHOST", "foo.localhost", "a.b.localhost", "127.0.0.1", "127.0.0.9", "[::1]", "::1"])(
    "is %s",
    (host) => expect(isLoopbackHost(host)).toBe(true),
  );

  test.each([
    ...["", "evil.com", "localhost.evil.com", "127.0.0.1.nip.io", "evil-localhost", "xlocalhost", "localhost."],
    ...["local", "0.0.0.0", "10.0.0.1", "[::]", "[fe80::1]", "2130706433", "0x7f.1", "127.1"],
  ])("is not %j", (host) => expect(isLoopbackHost(host)).toBe(false));
});
