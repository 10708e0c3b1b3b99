import { describe, expect, test } from "vitest";
import { readDiff } from "../../../src/hub/repositories/changed-files.ts";

describe("The files of a patch", () => {
  test("have the status that git reports", () => {
    const diff = [
      "diff --git a/README.md b/README.md",
      "index ce01362..cc628cc 100644",
      "--- a/README.md",
      "+++ b/README.md",
      "@@ -1 +1,2 @@",
      " hello",
      "+world",
      "diff --git a/new b/new",
      "new file mode 100644",
      "index 0000000..e69de29",
      "diff --git a/old.bin b/old.bin",
      "deleted file mode 100644",
      "index ce01362..0000000",
      "Binary files a/old.bin and /dev/null differ",
      "diff --git a/from here.txt b/to/there.txt",
      "similarity index 95%",
      "rename from from here.txt",
      "rename to to/there.txt",
      "index ce01362..cc628cc 100644",
      "--- a/from here.txt\t",
      "+++ b/to/there.txt",
      "diff --git a/README.md b/copy.md",
      "similarity index 100%",
      "copy from README.md",
      "copy to copy.md",
      "diff --git a/run.sh b/run.sh",
      "old mode 100644",
      "new mode 100755",
      "",
    ].join("\n");
    expect(readDiff(diff)).toEqual([
      { path: "README.md", status: "modified" },
      { path: "copy.md", status: "added" },
      { path: "new", status: "added" },
      { path: "old.bin", status: "deleted" },
      { path: "run.sh", status: "modified" },
      { path: "to/there.txt", status: "renamed", previousPath: "from here.txt" },
    ]);
  });

  test.each([
    ["diff --git a/my file b/my file", "my file"],
    ["diff --git a/x b/x b/x b/x", "x b/x"],
    ['diff --git "a/caf\\303\\251.md" "b/caf\\303\\251.md"', "café.md"],
    ["diff --git a/café.md b/café.md", "café.md"],
    ['diff --git "a/q\\"uo\\\\te" "b/q\\"uo\\\\te"', 'q"uo\\te'],
    ['diff --git "a/tab\\tand\\nline" "b/tab\\tand\\nline"', "tab\tand\nline"],
    ["diff --git a/diff --git a b/diff --git a", "diff --git a"],
  ])("include the name in %j", (header, path) => {
    expect(readDiff(`${header}\nold mode 100644\nnew mode 100755\n`)).toEqual([{ path, status: "modified" }]);
  });

  test("include names that a tab ends, because they contain spaces", () => {
    const diff =
      "diff --git a/a b.txt b/a b.txt\nindex 1..2 100644\n--- a/a b.txt\t\n+++ b/a b.txt\t\n@@ -1 +1 @@\n-a\n+b\n";
    expect(readDiff(diff)).toEqual([{ path: "a b.txt", status: "modified" }]);
  });

  test("are not read from the content of a file", () => {
    const content = "+diff --git a/fake b/fake\n---- a/fake\n+++ b/fake\n+rename to fake\n";
    const diff = `diff --git a/real b/real\nnew file mode 100644\n--- /dev/null\n+++ b/real\n@@ -0,0 +1,4 @@\n${content}`;
    expect(readDiff(diff)).toEqual([{ path: "real", status: "added" }]);
  });

  test("are read from a large diff in a short time", () => {
    const patch = (path: string) =>
      `diff --git a/${path} b/${path}\nindex 1..2 100644\n--- a/${path}\n+++ b/${path}\n@@ -1,100 +1,100 @@\n${"+line\n".repeat(100)}`;
    const diff = Array.from({ length: 5000 }, (_, index) => patch(`data/file-${index}.json`)).join("");
    const start = performance.now();
    expect(readDiff(diff)).toHaveLength(5000);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe("The files of a raw diff", () => {
  test("have the status that git reports", () => {
    const diff = [
      ":000000 100644 0000000 ce01362 A\tnew file",
      ":100644 000000 ce01362 0000000 D\told",
      ":100644 100644 ce01362... cc628cc... M\tREADME.md",
      ':100644 100644 ce01362 ce01362 R100\tfrom\t"t\\303\\266"',
      ":100644 100644 ce01362 ce01362 C100\tREADME.md\tcopy.md",
      ":100644 120000 ce01362 cc628cc T\tlink",
      "",
    ].join("\n");
    expect(readDiff(diff)).toEqual([
      { path: "README.md", status: "modified" },
      { path: "copy.md", status: "added" },
      { path: "link", status: "modified" },
      { path: "new file", status: "added" },
      { path: "old", status: "deleted" },
      { path: "tö", status: "renamed", previousPath: "from" },
    ]);
  });
});

describe("A diff", () => {
  test.each(["", "\n"])("without changes is empty (%j)", (diff) => {
    expect(readDiff(diff)).toEqual([]);
  });

  test.each([
    "Diff is too large to show.",
    "diff --git a/old name b/other name\nindex 1..2 100644\n",
    'diff --git "a/\\377" "b/\\377"\nnew file mode 100644\n',
    'diff --git "a/\\9" "b/\\9"\nnew file mode 100644\n',
    "diff --git x y\nnew file mode 100644\n",
    ":100644 100644 ce01362 cc628cc M\n",
    ":100644 100644 ce01362 cc628cc X\tREADME.md\n",
    ":100644 100644 ce01362 cc628cc R100\tREADME.md\n",
  ])("in another format is not read: %j", (diff) => {
    expect(readDiff(diff)).toBeUndefined();
  });
});
