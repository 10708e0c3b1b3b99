import { describe, expect, test } from "vitest";
import { parseCard, tagsOf, validateCard } from "../../../../src/local-hub/resources/repositories/repository-info.ts";

describe("The metadata of a card", () => {
  test.each([
    ["---\nlicense: mit\n---\n# Title", { license: "mit" }],
    ["---\r\nlicense: mit\r\n---\r\n", { license: "mit" }],
    ["\uFEFF---\ntags:\n- a\n- b\n---", { tags: ["a", "b"] }],
    ["---  \ndate: 2026-01-31\n---  \n", { date: "2026-01-31" }],
    ["\n---\na: 1\n---\n", { a: 1 }],
    ["---\na: 1\n---\n---\nb: 2\n---\n", { a: 1 }],
  ])("is the YAML at the start: %j", async (content, data) => {
    expect(await parseCard(content)).toEqual({ data });
  });

  test.each(["", "# Title", "---\n---\n", "---\nlicense: mit", "Text\n---\nlicense: mit\n---\n"])(
    "is missing: %j",
    async (content) => {
      expect(await parseCard(content)).toEqual({ missing: true });
    },
  );

  test.each(["---\na: [\n---\n", "---\n- a\n---\n", "---\ntext\n---\n", "---\na: 1\na: 2\n---\n"])(
    "is invalid: %j",
    async (content) => {
      expect(await parseCard(content)).toEqual({ error: expect.stringMatching(/\w/) });
    },
  );

  test("is not expanded without limit", async () => {
    const lines = [
      "a: &a [x, x, x]",
      ..."bcdefghi".split("").map((name, index) => {
        const previous = "abcdefgh"[index];
        return `${name}: &${name} [${Array(9).fill(`*${previous}`).join(", ")}]`;
      }),
    ];
    expect(await parseCard(`---\n${lines.join("\n")}\n---\n`)).toEqual({ error: expect.stringContaining("alias") });
    expect(await parseCard(`---\na: ${"x".repeat(100_000)}\n---\n`)).toEqual({
      error: expect.stringContaining("100000"),
    });
  });
});

describe("The tags", () => {
  test("of a dataset have prefixes, and each tag is unique", () => {
    const data = { language: ["en", "de"], task_categories: ["qa"], size_categories: "n<1K", tags: ["a", "a", 5] };
    expect(tagsOf(data, { type: "dataset" })).toEqual([
      ...["task_categories:qa", "size_categories:n<1K", "language:en", "language:de", "a", "region:us"],
    ]);
  });

  test("of a Space contain its SDK", () => {
    expect(tagsOf({ sdk: "docker", license: ["mit", "other"] }, { type: "space" })).toEqual([
      ...["docker", "license:mit", "license:other", "region:us"],
    ]);
  });
});

describe("The check of a card", () => {
  test("warns of missing metadata", async () => {
    const { errors, warnings } = await validateCard({ content: "# Title", repoType: "model" });
    expect([errors.length, warnings.length]).toEqual([0, 1]);
  });

  test.each([
    ["foo", '"model-index" must be an array'],
    ["[foo]", '"model-index[0]" must be an object'],
    ["[{ name: net, results: [] }, { results: {} }]", '"model-index[1].name" must be a string'],
    ["[{ name: net }]", '"model-index[0].results" must be an array'],
  ])("finds invalid results of a model: %s", async (index, message) => {
    const { errors } = await validateCard({ content: `---\nmodel-index: ${index}\n---\n`, repoType: "model" });
    expect(errors[0]).toEqual({ message });
  });

  test("requires the SDK of a Space", async () => {
    const check = (metadata: string) => validateCard({ content: `---\n${metadata}\n---\n`, repoType: "space" });
    expect((await check("title: Demo")).errors).toEqual([{ message: expect.stringContaining('"sdk"') }]);
    expect((await check("sdk: static")).errors).toEqual([]);
  });
});
