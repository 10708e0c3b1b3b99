import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ObjectBodies } from "../../../src/local-hub/buckets/object-bodies.ts";

const halfMebibyte = new Uint8Array(512 * 1024);

async function* interruptedAfter(chunks: number): AsyncGenerator<Uint8Array> {
  for (let chunk = 0; chunk < chunks; chunk += 1) yield halfMebibyte;
  throw new Error("The client has disconnected.");
}

test.each([0, 1, 3, 5])("An upload that is interrupted after %i chunks leaves no file behind", async (chunks) => {
  const folder = mkdtempSync(join(tmpdir(), "object-bodies-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const bodies = new ObjectBodies({ folder, isUsed: () => true });
  await expect(bodies.receive(interruptedAfter(chunks))).rejects.toThrow("disconnected");
  expect(readdirSync(folder)).toEqual([]);
});
