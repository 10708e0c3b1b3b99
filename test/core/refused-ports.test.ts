// @module-tag slow

import { expect, test } from "vitest";
import { isRefusedPort } from "../../src/core/options.ts";

/** Replaces the connections of `fetch`. */
const dispatcher = {
  dispatch(): never {
    throw new Error("connects");
  },
};

/** Whether `fetch` refuses a port. */
async function isRefusedByFetch(port: number): Promise<boolean> {
  const init: object = { dispatcher };
  const error: unknown = await fetch(`http://127.0.0.1:${port}`, init).catch((thrown: unknown) => thrown);
  return error instanceof TypeError && String(error.cause).includes("bad port");
}

test("The refused ports are those that fetch refuses", async () => {
  const ports = Array.from({ length: 10_100 }, (_, index) => index + 1);
  const refused = await Promise.all(ports.map(isRefusedByFetch));
  expect(ports.filter(isRefusedPort)).toEqual(ports.filter((_, index) => refused[index]));
});
