import { expect, test } from "vitest";
import { parseInboxUrl } from "../../src/inbox/open-inbox.ts";

test.each([
  ["sqlite:./inbox.db", { engine: "sqlite", file: "./inbox.db", unsafeFileSystem: "refuse" }],
  ["sqlite:///data/inbox.db", { engine: "sqlite", file: "/data/inbox.db", unsafeFileSystem: "refuse" }],
  ["sqlite:a.db?unsafe-file-system=allow", { engine: "sqlite", file: "a.db", unsafeFileSystem: "allow" }],
  ["sqlite::memory:", { engine: "sqlite", file: ":memory:", unsafeFileSystem: "refuse" }],
  ["hf://buckets/me/inbox", { engine: "bucket" }],
  ["s3://bucket", { engine: "bucket" }],
  ["redis://host", { engine: "redis" }],
  ["rediss://host", { engine: "redis" }],
  ["postgres://host/db", { engine: "postgres" }],
  ["postgresql://host/db", { engine: "postgres" }],
])("%s selects an engine", (url, expected) => {
  expect(parseInboxUrl(url)).toEqual(expected);
});

test.each(["", "sqlite:", "inbox.db", "mysql://host", "redis:host"])("%j is not supported", (url) => {
  expect(() => parseInboxUrl(url)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
});
