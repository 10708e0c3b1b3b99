import { describe, expect, onTestFinished, test } from "vitest";
import { isLoopbackAddress } from "../../../src/core/loopback.ts";
import { HttpSender, type Lookup, loopbackOnly } from "../../../src/local-hub/delivery/http-sender.ts";
import { openTarget } from "../target.ts";

function looked(name: string, options: object = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    loopbackOnly()(name, options, (error, address) => (error ? reject(error) : resolve(address)));
  });
}

describe("Looking a name up", () => {
  test("finds this machine", async () => {
    expect(isLoopbackAddress(String(await looked("localhost")))).toBe(true);
    expect(await looked("localhost", { all: true })).toContainEqual({
      address: expect.any(String),
      family: expect.any(Number),
    });
    expect(await looked("127.0.0.5", { family: 4 })).toBe("127.0.0.5");
  });

  test.each(["10.0.0.1", "0.0.0.0", "::ffff:10.0.0.1", "fe80::1"])(
    "fails where it is elsewhere: %s",
    async (address) => {
      for (const options of [{}, { all: true }]) {
        await expect(looked(address, options)).rejects.toThrow(/not this machine.*allow-remote/);
      }
    },
  );

  test("fails as node:dns does where there is no such name", async () => {
    await expect(looked("nobody.invalid")).rejects.toMatchObject({ syscall: "getaddrinfo" });
  });
});

describe("A delivery to a name", () => {
  const post = { headers: {}, body: "{}", timeoutMs: 5_000, signal: new AbortController().signal };

  test("goes nowhere when the name stands for another machine by now", async () => {
    const rebound: Lookup = (_name, options, callback) => {
      if (options.all) callback(null, [{ address: "10.0.0.1", family: 4 }]);
      else callback(null, "10.0.0.1", 4);
    };
    const sender = new HttpSender({ allowRemote: false, lookup: rebound });
    onTestFinished(() => sender.close());
    const result = await sender.send({ ...post, url: "http://receiver.example/hook" });
    expect(result).toEqual({ failure: expect.stringMatching(/receiver\.example.*allowRemote/) });
  });

  test("arrives when the name stands for this one", async () => {
    const target = await openTarget();
    const here: Lookup = (_name, options, callback) => {
      if (options.all) callback(null, [{ address: "127.0.0.1", family: 4 }]);
      else callback(null, "127.0.0.1", 4);
    };
    const sender = new HttpSender({ allowRemote: false, lookup: here });
    onTestFinished(() => sender.close());
    const url = target.url.replace("127.0.0.1", "receiver.example");
    expect(await sender.send({ ...post, url })).toMatchObject({ response: { status: 200 } });
  });
});
