import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

export const wide = { width: 1280, height: 800 };
export const narrow = { width: 360, height: 740 };

const everyLook = [wide, narrow].flatMap((viewport) =>
  (["light", "dark"] as const).map((colorScheme) => ({ colorScheme, width: viewport.width, viewport })),
);

const isThorough = process.env.SLOW_TESTS === "1";
if (!isThorough) {
  console.warn("Pages are looked at light and wide, dark and narrow; SLOW_TESTS=1 looks at the other pairs, too.");
}

/** How a page is looked at: each theme and each width, and each pair of them where there is time. */
export const looks = isThorough ? everyLook : [everyLook[0], everyLook[3]].filter((look) => look !== undefined);

/** Holds a page to what axe knows of accessibility, contrast included. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const { violations, incomplete } = await page.evaluate<AxeResults>(
    "axe.run({ resultTypes: ['violations', 'incomplete'] })",
  );
  expect(violations.map(({ id, nodes }) => ({ id, targets: nodes.map(({ target }) => target) }))).toEqual([]);
  // What axe cannot measure, it reports as incomplete: a contrast that nobody checked would pass for a good one.
  expect(incomplete.filter(({ id }) => id === "color-contrast")).toEqual([]);
}
