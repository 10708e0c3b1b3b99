import { describe, expect, test } from "vitest";
import { hashAssets } from "../../../src/console/pages/assets.ts";

const assets = hashAssets({ "styles.css": "p { margin: 0; }", "page.js": "report();" });

describe("The files of a page", () => {
  test("have names that change only with their content", () => {
    const changed = hashAssets({ "styles.css": "p { margin: 1px; }", "page.js": "report();" });
    expect(assets.nameOf("styles.css")).toMatch(/^styles-[0-9a-f]{8}\.css$/);
    expect(changed.nameOf("styles.css")).not.toBe(assets.nameOf("styles.css"));
    expect(changed.nameOf("page.js")).toBe(assets.nameOf("page.js"));
  });

  test("are served with their type, and may be cached permanently", async () => {
    const answer = assets.answer(assets.nameOf("page.js"));
    expect(await answer?.text()).toBe("report();");
    expect(answer?.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(answer?.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer?.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  });

  test.each(["", "page.js", "styles.css", "__proto__", "constructor"])("do not include “%s”", (name) => {
    expect(assets.answer(name)).toBeUndefined();
  });
});
