import { expect, test } from "vitest";
import { KeyedQueue } from "../../../src/hub/repositories/repository-context.ts";

test("Functions with the same key run one after the other, also after a failure", async () => {
  const queue = new KeyedQueue();
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = queue.run("a", async () => {
    log.push("first starts");
    await gate.promise;
    log.push("first fails");
    throw new Error("first");
  });
  const second = queue.run("a", async () => log.push("second"));
  const third = queue.run("a", async () => log.push("third"));
  await queue.run("b", async () => log.push("other key"));
  gate.resolve();
  await expect(first).rejects.toThrow("first");
  await Promise.all([second, third]);
  expect(log).toEqual(["first starts", "other key", "first fails", "second", "third"]);
});

test("A function waits for the second of two earlier ones, although the first has ended", async () => {
  const queue = new KeyedQueue();
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = queue.run("a", async () => log.push("first"));
  const second = queue.run("a", async () => {
    await gate.promise;
    log.push("second ends");
  });
  await first;
  const third = queue.run("a", async () => log.push("third"));
  gate.resolve();
  await Promise.all([second, third]);
  expect(log).toEqual(["first", "second ends", "third"]);
});
