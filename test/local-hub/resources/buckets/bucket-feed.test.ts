import { expect, test } from "vitest";
import { BucketFeed } from "../../../../src/local-hub/resources/buckets/bucket-feed.ts";

const minute = 60_000;

/** Opens a feed with a change of `me` at the start, and a change of each bucket a minute later. */
function openFeed() {
  const clock = { now: 0 };
  const feed = new BucketFeed({ now: () => clock.now });
  feed.publish("me", [{ path: "first", op: "delete" }]);
  clock.now = minute;
  feed.publish("other", [{ path: "other", op: "delete" }]);
  feed.publish("me", [{ path: "second", op: "delete" }]);
  const read = async (options: { cursor?: string; since?: number } = {}, events = 3) => {
    const { cursor, since } = options;
    const reader = feed
      .stream("me", { cursor, since, isOpen: () => true })

      .getReader();
    let text = "";
    for (let count = 0; count < events && !text.includes("event: ready"); count += 1)
      text += Buffer.from((await reader.read()).value ?? []).toString();
    await reader.cancel();
    return {
      paths: [...text.matchAll(/"path":"(\w+)"/g)].map(([, path]) => path),
      cursors: [...text.matchAll(/"cursor":"([^"]+)"/g)].map(([, found = ""]) => found),
      isReset: text.includes("event: reset"),
    };
  };
  return { clock, feed, read };
}

test("A feed starts with new changes", async () => {
  expect(await openFeed().read()).toMatchObject({ paths: [], isReset: false });
});

test("A feed continues after a cursor", async () => {
  const { read } = openFeed();
  const { paths, cursors } = await read({ since: 0 }, 4);
  expect(paths).toEqual(["first", "second"]);
  expect((await read({ cursor: cursors[0] ?? "" })).paths).toEqual(["second"]);
  expect((await read({ cursor: cursors[1] ?? "" })).paths).toEqual([]);
});

test("A feed continues after a time", async () => {
  expect((await openFeed().read({ since: 1 })).paths).toEqual(["second"]);
});

test.each<[string, { cursor?: string; since?: number }]>([
  ["of another local Hub", { cursor: "00000000-1" }],
  ["that is invalid", { cursor: "x" }],
  ["before the start", { since: -1 }],
])("A feed cannot continue after a position %s", async (_kind, options) => {
  expect(await openFeed().read(options)).toMatchObject({ paths: [], isReset: true });
});

test("A feed keeps changes for 15 minutes", async () => {
  const { clock, read } = openFeed();
  const [, cursor = ""] = (await read({ since: 0 }, 4)).cursors;
  clock.now = 15 * minute + 1;
  expect((await read({ since: 0 })).isReset).toBe(true);
  expect((await read({ since: minute })).paths).toEqual(["second"]);
  clock.now = 16 * minute + 1;
  expect((await read({ since: minute })).isReset).toBe(true);
  expect(await read({ cursor })).toMatchObject({ paths: [], isReset: false });
});

const many = (length: number) => Array.from({ length }, () => ({ path: "many", op: "delete" }) as const);

test("A feed keeps at most 10,000 changes", async () => {
  const { feed, read } = openFeed();
  feed.publish("me", many(9_999));
  expect((await read({ since: minute + 0 })).isReset).toBe(true);
});

test("A stream that missed changes is reset", async () => {
  const { feed } = openFeed();
  const stream: ReadableStream = feed.stream("me", { cursor: undefined, since: undefined, isOpen: () => true });
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; !text.includes("event: ready"); ) text = (await reader.read()).value ?? "";
  feed.publish("me", many(10_001));
  expect((await reader.read()).value).toContain("event: reset");
  expect((await reader.read()).done).toBe(true);
});
