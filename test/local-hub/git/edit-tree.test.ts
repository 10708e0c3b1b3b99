import fc from "fast-check";
import { expect, test } from "vitest";
import { editTree, type TreeChange } from "../../../src/local-hub/git/edit-tree.ts";
import { TreeStore } from "../../../src/local-hub/git/tree-store.ts";
import { openDatabase } from "../../../src/local-hub/store/database.ts";

const blobs = ["1", "2", "3"].map((digit) => digit.repeat(40));
const segment = fc.constantFrom("a", "b", "c", "d.txt");
const path = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join("/"));
/** New contents by path. `undefined` deletes the file. */
const step = fc.dictionary(path, fc.option(fc.constantFrom(...blobs), { nil: undefined }), { maxKeys: 4 });

test("Trees have the same files as a map after any changes", () => {
  const database = openDatabase(undefined);
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
      const trees = new TreeStore(database);
      let files = new Map<string, string>();
      let tree: string | undefined;
      for (const wanted of steps) {
        const before = files;
        files = new Map(before);
        const changes: TreeChange[] = [];
        for (const [path, oid] of Object.entries(wanted)) {
          const isConflict = [...before.keys(), ...files.keys()].some(
            (other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`),
          );
          if (oid === undefined ? !before.has(path) : isConflict) continue;
          changes.push(oid === undefined ? { path, deleted: "file" } : { path, file: { oid, size: 1 } });
          if (oid === undefined) files.delete(path);
          else files.set(path, oid);
        }
        const after = editTree(trees, tree, changes);
        trees.clearCache();
        const listed = Array.from(trees.list(after, { recursive: true })).filter(({ type }) => type === "file");
        expect(new Map(listed.map(({ path, oid }) => [path, oid]))).toEqual(files);
        for (const [path, oid] of files) expect(trees.find(after, path)?.oid).toBe(oid);
        const differing = [...before.keys(), ...files.keys()].filter((path) => before.get(path) !== files.get(path));
        const compared = Array.from(trees.compare(tree, after), ({ path }) => path);
        expect(compared.toSorted()).toEqual([...new Set(differing)].sort());
        tree = after;
      }
    }),
    { numRuns: 60 },
  );
  database.close();
});
