import { describe, expect, test } from "vitest";
import { readAnswers } from "./http-answers.ts";

const read = (text: string) => readAnswers(Buffer.from(text, "latin1")).map(({ status, body }) => [status, body]);

describe("readAnswers", () => {
  test("reads several answers", () => {
    const counted = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab";
    const chunked = "HTTP/1.1 500 Oh no\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
    const early = "HTTP/1.1 100 Continue\r\n\r\n";
    expect(read(early + counted + chunked)).toEqual([
      [100, ""],
      [200, "ab"],
      [500, "abc"],
    ]);
    expect(read("")).toEqual([]);
  });

  test("accepts a length without a body, as in the answer to a HEAD request", () => {
    const head = "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\n";
    expect(read(head)).toEqual([[404, ""]]);
    expect(read(`${head}HTTP/1.1 204 No Content\r\n\r\n`)).toEqual([
      [404, ""],
      [204, ""],
    ]);
  });

  test.each([
    ["another protocol", "EHLO\r\n\r\n"],
    ["an incomplete head", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"],
    ["a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n"],
    ["a control character in a header", "HTTP/1.1 200 OK\r\nX-A: \x01\r\nContent-Length: 0\r\n\r\n"],
    ["a duplicate header", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n"],
    ["a body that is too short", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"],
    ["a body that is too long", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab"],
    ["an incomplete chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"],
    ["chunks without a last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"],
  ])("rejects %s", (_what, text) => {
    expect(() => read(text)).toThrow(Error);
  });
});
