import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { ObjectBodies } from "../../../src/local-hub/store/object-store.ts";
import { createFolder } from "../../support/temporary-folder.ts";

const halfMebibyte = new Uint8Array(512 * 1024);

async function* interruptedAfter(chunks: number): AsyncGenerator<Uint8Array> {
  for (let chunk = 0; chunk < chunks; chunk += 1) yield halfMebibyte;
  throw new Error("The client has disconnected.");
}

test.each([0, 1, 3, 5])("An upload that is interrupted after %i chunks leaves no file behind", async (chunks) => {
  const folder = createFolder();
  const bodies = new ObjectBodies({ folder, isUsed: () => true });
  await expect(bodies.receive(interruptedAfter(chunks))).rejects.toThrow("disconnected");
  expect(readdirSync(folder)).toEqual([]);
});

const descriptors = "/proc/self/fd";

/** Returns the files in a folder that this process has opened. */
function openFiles(folder: string): string[] {
  const targets = readdirSync(descriptors).map((descriptor) => {
    try {
      return readlinkSync(`${descriptors}/${descriptor}`);
    } catch {
      // The descriptor of the listed folder is closed.
      return "";
    }
  });
  return targets.filter((target) => target.startsWith(folder));
}

test.skipIf(!existsSync(descriptors))("A received or interrupted upload leaves no file open", async () => {
  const folder = createFolder();
  const bodies = new ObjectBodies({ folder, isUsed: () => true });
  const { file } = await bodies.receive(new Blob([halfMebibyte, halfMebibyte, halfMebibyte]).stream());
  expect(readdirSync(folder)).toEqual([file]);
  await expect(bodies.receive(interruptedAfter(3))).rejects.toThrow("disconnected");
  expect(openFiles(folder)).toEqual([]);
});
