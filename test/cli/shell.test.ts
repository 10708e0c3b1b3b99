import { describe, expect, onTestFinished, test, vi } from "vitest";
import { processShell, type Shell } from "../../src/cli/invocation.ts";

/** Creates the shell of this process. Its listeners are removed after the test. */
function openShell({ isTTY = false } = {}): Shell {
  const watched = [
    ...(["SIGINT", "SIGTERM", "SIGHUP"] as const).map((event) => ({ emitter: process, event })),
    ...[process.stdout, process.stderr].map((emitter) => ({ emitter, event: "error" })),
  ].map(({ emitter, event }) => ({ emitter, event, before: emitter.rawListeners(event) }));
  const wasTTY = process.stdin.isTTY;
  process.stdin.isTTY = isTTY;
  onTestFinished(() => {
    process.stdin.isTTY = wasTTY;
    for (const { emitter, event, before } of watched) {
      emitter.removeAllListeners(event);
      for (const listener of before) emitter.on(event, (...values) => Reflect.apply(listener, emitter, values));
    }
  });
  return processShell();
}

describe("The shell of a process", () => {
  test.each(["SIGINT", "SIGTERM"] as const)("stops at %s, and exits with 1 at the next signal", async (signal) => {
    const exit = vi.spyOn(process, "exit").mockReturnValue(undefined as never);
    onTestFinished(() => exit.mockRestore());
    const stopped = openShell().untilStopped();
    process.emit(signal);
    await stopped;
    expect(exit).not.toHaveBeenCalled();
    process.emit("SIGINT");
    expect(exit).toHaveBeenCalledExactlyOnceWith(1);
  });

  test("stops on a terminal at SIGHUP, and ignores the next one", async () => {
    const before = process.listenerCount("SIGHUP");
    const stopped = openShell({ isTTY: true }).untilStopped();
    process.emit("SIGHUP");
    await stopped;
    // Without a listener, the signal would end the process.
    expect(process.listenerCount("SIGHUP")).toBe(before + 1);
    const listeners = process.listenerCount("SIGINT");
    process.emit("SIGHUP");
    expect(process.listenerCount("SIGINT")).toBe(listeners);
  });

  test("does not handle SIGHUP without a terminal, so that the signal ends the process", () => {
    const before = process.listenerCount("SIGHUP");
    void openShell().untilStopped();
    expect(process.listenerCount("SIGHUP")).toBe(before);
  });

  test.each(["stdout", "stderr"] as const)("stops when the reader of its %s closes the pipe", async (stream) => {
    const stopped = openShell().untilStopped();
    process[stream].emit("error", Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    await stopped;
  });

  test.each(["stdout", "stderr"] as const)("fails at any other error of its %s", (stream) => {
    openShell();
    const error = Object.assign(new Error("no space left"), { code: "ENOSPC" });
    expect(() => process[stream].emit("error", error)).toThrow(error);
  });
});
