import { expect, test } from "vitest";
import { EventStreamParser } from "../../../../src/console/app/api.ts";

test("returns the data of complete events", () => {
  const parser = new EventStreamParser();
  expect(parser.push('data: {"a":1}\n\ndata: {"b')).toEqual(['{"a":1}']);
  expect(parser.push('":2}\n\n')).toEqual(['{"b":2}']);
});

test("ignores heartbeats and other fields", () => {
  expect(new EventStreamParser().push(": heartbeat\n\nevent: x\nid: 7\ndata:{}\n\n")).toEqual(["{}"]);
});

test("joins the lines of an event", () => {
  expect(new EventStreamParser().push("data: [1,\r\ndata: 2]\r\n\r\n")).toEqual(["[1,\n2]"]);
});

test("finds an event that ends in the middle of a line break", () => {
  const parser = new EventStreamParser();
  expect([...parser.push("data: 1\r\n\r"), ...parser.push("\ndata: 2\r\n\r\n")]).toEqual(["1", "2"]);
});
