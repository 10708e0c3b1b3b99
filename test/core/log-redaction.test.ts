import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LogRedaction } from "../../src/core/log.ts";
import { hostileValues } from "../support/hostile-values.ts";
import { errorsWithSecret, holdsSecret } from "../support/secrets.ts";

const secret = 'Planted "5ecret!" & \\more';
const strict = encodeURIComponent(secret).replaceAll("!", "%21");
const lowerCased = (text: string) => text.replace(/%../g, (escaped) => escaped.toLowerCase());
const hubToken = `hf_${"aB3".repeat(11)}`;

function redactionOf(...secrets: readonly string[]): LogRedaction {
  const redaction = new LogRedaction();
  redaction.add(secrets);
  return redaction;
}

describe("A redacted text", () => {
  test.each([
    ["unencoded", `a ${secret} b ${secret} c`, "a [redacted] b [redacted] c"],
    ["as JSON", JSON.stringify({ secret }), '{"secret":"[redacted]"}'],
    [
      "as JSON inside of JSON",
      JSON.stringify({ body: JSON.stringify({ secret }) }),
      String.raw`{"body":"{\"secret\":\"[redacted]\"}"}`,
    ],
    ["percent-encoded, with other marks", `/?key=${strict}&page=2`, "/?key=[redacted]&page=2"],
    ["percent-encoded in lower case", `/?key=${lowerCased(strict)}&page=2`, "/?key=[redacted]&page=2"],
    ["as a form field", `${new URLSearchParams({ key: secret, page: "2" })}`, "key=[redacted]&page=2"],
    [
      "as a form field in lower case",
      lowerCased(`${new URLSearchParams({ key: secret, page: "2" })}`),
      "key=[redacted]&page=2",
    ],
    ["percent-encoded", `/?key=${encodeURIComponent(secret)}&page=2`, "/?key=[redacted]&page=2"],
  ])("has no secret that stands in it %s", (_how, text, shown) => {
    expect(redactionOf(secret).text(text)).toBe(shown);
  });

  test.each(["base64", "base64url"] as const)("contains no secret in %s, at any offset", (encoding) => {
    // The second text contains every special character of its alphabet.
    for (const planted of ["Planted-5ecret", "«~~~»???>>>ÿÿ", "12345678"]) {
      for (const before of ["", "u", "us", "user:", "a longer user:"]) {
        for (const after of ["", "\n", "!!", ":more of it"]) {
          const encoded = Buffer.from(`${before}${planted}${after}`).toString(encoding);
          const start = Math.floor((Buffer.byteLength(before) * 8) / 6);
          const end = Math.ceil((Buffer.byteLength(before + planted) * 8) / 6);
          const text = redactionOf(planted).text(`Authorization: Basic ${encoded}, or "${encoded}"`);
          const rest = encoded.replace(/=+$/, "").slice(end);
          const shown = `${encoded.slice(0, start)}[redacted]${rest}`;
          expect(text.replace(/=/g, "")).toBe(`Authorization: Basic ${shown}, or "${shown}"`);
        }
      }
    }
  });

  test("contains no token of the Hub, even an unknown one", () => {
    expect(redactionOf().text(`Bearer ${hubToken}, and hf_local`)).toBe("Bearer [redacted], and hf_local");
  });

  test("contains no part of a secret that contains another secret", () => {
    expect(redactionOf("Planted-5ecret", "Planted-5ecret-of-before").text("=Planted-5ecret-of-before=")).toBe(
      "=[redacted]=",
    );
  });

  test("contains no part of overlapping secrets", () => {
    expect(redactionOf("Planted-5ecret", "5ecret-of-others").text("=Planted-5ecret-of-others=")).toBe("=[redacted]=");
    expect(redactionOf("Planted-5ecret").text("Planted-5ecretPlanted-5ecret")).toBe("[redacted][redacted]");
  });

  test("is the same as with a separate search for each secret", () => {
    const secretText = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 8, maxLength: 10 });
    const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 60, size: "max" });
    fc.assert(
      fc.property(fc.array(secretText, { maxLength: 20, size: "max" }), text, (secrets, around) => {
        const whole = [around, ...secrets].join("");
        const covered = Array.from(whole, (_, index) =>
          secrets.some((one) => {
            const from = whole.lastIndexOf(one, index);
            return from !== -1 && index < from + one.length;
          }),
        );
        const kept = Array.from(whole).filter((_, index) => !covered[index]);
        expect(
          redactionOf(...secrets)
            .text(whole)
            .replaceAll("[redacted]", ""),
        ).toBe(kept.join(""));
      }),
    );
  });

  test("keeps secrets of fewer than eight characters", () => {
    expect(redactionOf("ignored", "", "a").text("delivery ignored")).toBe("delivery ignored");
    expect(redactionOf("ignoring").text("delivery ignoring")).toBe("delivery [redacted]");
  });

  test("contains none of the latest thousand secrets", () => {
    const redaction = redactionOf("Planted-of-the-first");
    const later = Array.from({ length: 1_000 }, (_, index) => `Planted-${index}-of-later`);
    for (const one of later) redaction.add([one]);
    expect(later.map((one) => redaction.text(one)).filter((text) => text !== "[redacted]")).toEqual([]);
    // The oldest secret is removed to limit memory use.
    expect(redaction.text("Planted-of-the-first")).toBe("Planted-of-the-first");
  });
});

describe("A redacted log line", () => {
  test("is unchanged without a secret", () => {
    const line = '{"level":30, "msg":"delivery succeeded"}\n';
    expect(redactionOf(secret).line(line)).toBe(line);
  });

  test("contains no secret in any string, and keeps its line break", () => {
    const line = `${JSON.stringify({ level: 50, msg: secret, err: { stack: `at ${secret}`, list: [secret] } })}\n`;
    expect(redactionOf(secret).line(line)).toBe(
      '{"level":50,"msg":"[redacted]","err":{"stack":"at [redacted]","list":["[redacted]"]}}\n',
    );
  });

  test("stays valid JSON if its timestamp contains a secret of digits", () => {
    const line = JSON.stringify({ time: 1_764_000_123_456, msg: "code 17640001" });
    expect(redactionOf("17640001").line(line)).toBe('{"time":1764000123456,"msg":"code [redacted]"}');
  });

  test("is redacted even if it is not JSON", () => {
    expect(redactionOf(secret).line(`> ${secret}`)).toBe("> [redacted]");
  });
});

describe("A redacted value", () => {
  test("is the same object without a secret", () => {
    const fields = { endpoint: "retrain", err: new Error("no", { cause: { list: [1] } }) };
    expect(redactionOf(secret).value(fields)).toBe(fields);
  });

  test.each(Object.entries(errorsWithSecret(secret)))("contains no secret of %s", (_where, thrown) => {
    const fields = { endpoint: "retrain", err: thrown };
    expect(holdsSecret(redactionOf(secret).value(fields), secret)).toBe(false);
    // The handler may still use its value, so it must not change.
    expect(fields.err).toBe(thrown);
  });

  test("keeps the class and the other fields of an error", () => {
    class ApiError extends Error {
      override readonly name = "ApiError";
      readonly status = 401;
    }
    const error = new ApiError(`Refused ${secret}.`, { cause: new TypeError(secret) });
    expect(redactionOf(secret).value(error)).toSatisfy((copy: unknown) => copy instanceof ApiError && copy !== error);
    expect(redactionOf(secret).value(error)).toMatchObject({
      ...{ name: "ApiError", message: "Refused [redacted].", status: 401, cause: expect.any(TypeError) },
      stack: expect.stringMatching(/Refused \[redacted\]\.\n\s+at /),
    });
    expect(Object.keys(Object(redactionOf(secret).value(error))).sort()).toEqual(["name", "status"]);
  });

  test("keeps cyclic references", () => {
    const looped: { self?: object; secret: string } = { secret };
    looped.self = looped;
    const copy = redactionOf(secret).value(looped);
    expect(copy).toEqual({ secret: "[redacted]", self: copy });
  });

  test.each(Object.entries(hostileValues()))("does not fail on %s", (_what, thrown) => {
    expect(() => redactionOf(secret).value({ err: thrown, secret })).not.toThrow();
  });
});
