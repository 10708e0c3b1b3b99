import { expect, test } from "vitest";
import { maskUrl, readBaseUrl, secretsInUrl } from "../../src/core/urls.ts";

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
