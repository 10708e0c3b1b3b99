import { expect, test } from "vitest";
import { parseLogLine } from "../../src/dev/console/log-buffer.ts";

test("The fields of a line of a JSON logger are parsed", () => {
  const fields = { level: 30, time: 1, msg: "hello", err: { message: "boom" } };
  expect(parseLogLine(JSON.stringify(fields))).toEqual(fields);
});

test.for(["plain text", "{ not json", "{}", "[1]", "null", '{"level":30}', '{"time":1}'])(
  "Text that is not from a JSON logger is ignored: %s",
  (text) => {
    expect(parseLogLine(text)).toBeUndefined();
  },
);
