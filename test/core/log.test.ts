import fc from "fast-check";
import { pino } from "pino";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  createForwardingLogger,
  createRedactingLogger,
  createSafeLogger,
  type Logger,
  LogRedaction,
} from "../../src/core/log.ts";
import { createConsoleLogger } from "../../src/receiver/logs.ts";
import { hostileValues } from "../support/hostile-values.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
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

const levels = ["debug", "info", "warn", "error"] as const;

/** Creates a pino logger that records its lines. */
function createPino() {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level: "debug" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { lines, logger: createSafeLogger(logger) };
}

/** Creates a logger whose methods throw, except for spared lines. */
function createFailing(spared: (given: readonly unknown[]) => boolean = () => false) {
  const written: unknown[][] = [];
  const write = (...given: unknown[]) => {
    if (!spared(given)) throw new RangeError("planted-detail");
    written.push(given);
  };
  const failing: Logger = {
    ...{ debug: write, info: write, warn: write, error: write },
    child() {
      throw new RangeError("no children");
    },
  };
  return { written, logger: createSafeLogger(failing) };
}

/** Records the lines that the console would print as errors. */
function silenceConsole() {
  const spied = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => spied.mockRestore());
  return spied;
}

describe("A forwarding logger", () => {
  test.each(levels)("passes %s() with and without fields to the current logger", (level) => {
    const first = createMemoryLogger();
    const second = createMemoryLogger();
    let current = first;
    const logger = createForwardingLogger(() => current);
    logger[level]("to the first");
    current = second;
    logger[level]({ endpoint: "retrain" }, "to the second");
    expect(first.lines).toEqual([{ level, msg: "to the first" }]);
    expect(second.lines).toEqual([{ level, endpoint: "retrain", msg: "to the second" }]);
  });

  test("creates children of the current logger", () => {
    const memory = createMemoryLogger();
    createForwardingLogger(() => memory)
      .child({ deliveryId: "d1" })
      .info("from the child");
    expect(memory.lines).toEqual([{ level: "info", deliveryId: "d1", msg: "from the child" }]);
  });
});

describe("A safe logger", () => {
  test("passes on levels, fields and children unchanged", () => {
    const memory = createMemoryLogger();
    const logger = createSafeLogger(memory);
    const err = new Error("kept as it is");
    for (const level of levels) logger[level]({ err }, level);
    logger.child({ endpoint: "retrain" }).info("alone");
    expect(memory.lines).toEqual([
      ...levels.map((level) => ({ level, msg: level, err })),
      { level: "info", msg: "alone", endpoint: "retrain" },
    ]);
    expect(memory.lines[0]?.err).toBe(err);
  });

  test.each(Object.entries(hostileValues()))("writes a line about %s, with its other fields", (_what, err) => {
    const { lines, logger } = createPino();
    logger.error({ err, endpoint: "retrain" }, "failed");
    expect(lines).toEqual([expect.objectContaining({ level: 50, msg: "failed", endpoint: "retrain" })]);
    expect(lines[0]).toHaveProperty("err");
    vi.stubEnv("LOG_LEVEL", "error");
    const onConsole = silenceConsole();
    createSafeLogger(createConsoleLogger()).error({ err, endpoint: "retrain" }, "failed");
    expect(onConsole).toHaveBeenCalledOnce();
    expect(JSON.parse(String(onConsole.mock.calls[0]?.[0]))).toMatchObject({ msg: "failed", endpoint: "retrain" });
  });

  test("replaces fields that cannot be inspected with a placeholder", () => {
    const { lines, logger } = createPino();
    const { "a revoked proxy": revoked } = hostileValues();
    if (typeof revoked !== "object" || revoked === null) throw new Error("A proxy is an object.");
    logger.error({ err: revoked, job: Object.defineProperty({}, "id", { get: raise, enumerable: true }) }, "failed");
    logger.error(revoked, "failed again");
    expect(lines).toMatchObject([
      { msg: "failed", job: "[cannot be serialized]" },
      { msg: "failed again", fields: "[cannot be serialized]" },
    ]);
  });

  test("drops the fields if the logger throws for any field", () => {
    const { logger, written } = createFailing(([first]) => typeof first === "string");
    logger.info({ endpoint: "retrain" }, "done");
    expect(written).toEqual([["done"]]);
  });

  test("reports a logger that always throws once on the console, without its message", () => {
    const onConsole = silenceConsole();
    const { logger } = createFailing();
    for (const level of levels) logger[level]({ endpoint: "retrain" }, "lost");
    logger.child({ deliveryId: "d-1" }).info("lost as well");
    expect(onConsole.mock.calls).toEqual([
      ['The logger threw RangeError, and log lines are lost. Check the "logger" option.'],
    ]);
  });

  test("reports lost lines once for all children", () => {
    const onConsole = silenceConsole();
    const failing: Logger = { ...{ debug: raise, info: raise, warn: raise, error: raise }, child: () => failing };
    const logger = createSafeLogger(failing);
    for (const deliveryId of ["d-1", "d-2"]) logger.child({ deliveryId }).info("lost");
    logger.info("lost as well");
    expect(onConsole).toHaveBeenCalledOnce();
  });

  test("creates a child with plain bindings if pino rejects the given ones", () => {
    const { lines, logger } = createPino();
    const job = Object.defineProperty({}, "id", { get: raise, enumerable: true });
    logger.child({ job, endpoint: "retrain" }).info("done");
    expect(lines).toMatchObject([{ endpoint: "retrain", msg: "done" }]);
  });
});

function raise(): never {
  throw new Error("This must not be looked at.");
}

function createRedacting() {
  const memory = createMemoryLogger();
  return { lines: memory.lines, logger: createRedactingLogger(memory, redactionOf(secret)) };
}

test.each(levels)("No secret reaches a logger by %s()", (level) => {
  const { lines, logger } = createRedacting();
  logger[level](`It is ${secret}.`);
  logger[level]({ err: secret }, `It is ${secret}.`);
  logger.child({ key: secret })[level]({ step: 1 });
  expect(lines).toEqual([
    { level, msg: "It is [redacted]." },
    { level, msg: "It is [redacted].", err: "[redacted]" },
    { level, msg: "", key: "[redacted]", step: 1 },
  ]);
});

test("Fields without a secret are passed on unchanged", () => {
  const { lines, logger } = createRedacting();
  const err = new Error("no");
  logger.error({ err }, "failed");
  expect(lines[0]?.err).toBe(err);
});
