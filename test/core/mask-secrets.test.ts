import { expect, test } from "vitest";
import { maskSecretsOf } from "../../src/core/urls.ts";

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
