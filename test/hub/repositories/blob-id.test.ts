import { expect, test } from "vitest";
import { blobId, pointerId } from "../../../src/hub/repositories/create-commit.ts";

// `git hash-object` prints these IDs.
test.each([
  ["", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"],
  ["hello\n", "ce013625030ba8dba906f756967f9e9ca394464a"],
  ["Grüße 猫\n", "262fcf13bdd961f85e455b1c00713e2e3a8445e5"],
])("The ID of a file with the content %j is the ID of git", async (text, id) => {
  expect(await blobId(new TextEncoder().encode(text))).toBe(id);
});

test("The ID of a large file is the ID of its pointer", async () => {
  expect(await pointerId(new TextEncoder().encode("hello\n"))).toBe("fa61e1ef71c9908c0926776a4aa3504b3a27f159");
});
