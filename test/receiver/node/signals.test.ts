import { expect, test } from "vitest";
import { startReceiverProcess } from "../../support/receiver-process.ts";

test("A server that cannot be closed logs why at a signal, and exits with 1", async () => {
  const child = startReceiverProcess(new URL("unclosable-process.ts", import.meta.url), {});
  await child.says(/^The server is ready/);
  child.signal("SIGTERM");
  expect(await child.exited).toEqual({ code: 1, signal: null });
  expect(child.lines).toContainEqual(
    expect.objectContaining({ level: "error", err: expect.objectContaining({ message: "The disk is gone." }) }),
  );
});

test("A signal that interrupts a background handler logs how many deliveries will run again, and exits with 0", async () => {
  const child = startReceiverProcess(new URL("endless-handler-process.ts", import.meta.url), {});
  await child.says(/^handler started/);
  child.signal("SIGTERM");
  expect(await child.exited).toEqual({ code: 0, signal: null });
  expect(child.lines).toContainEqual(expect.objectContaining({ level: "warn", interrupted: 1 }));
});
