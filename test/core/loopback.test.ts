import { describe, expect, test } from "vitest";
import { isLoopbackAddress, isLoopbackHost } from "../../src/core/urls.ts";

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
