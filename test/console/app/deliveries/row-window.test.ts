import { describe, expect, test } from "vitest";
import { selectWindow } from "../../../../src/console/app/deliveries/delivery-table.tsx";

const view = { height: 640, rowHeight: 32, count: 500 };

describe("selectWindow", () => {
  test("starts with the first rows", () => {
    expect(selectWindow({ ...view, scrollTop: 0 })).toEqual({ first: 0, end: 50 });
  });

  test("contains all rows in view wherever the list is scrolled to", () => {
    for (let scrollTop = 0; scrollTop <= 500 * 32 - 640; scrollTop += 17) {
      const { first, end } = selectWindow({ ...view, scrollTop });
      expect(first * 32).toBeLessThanOrEqual(scrollTop);
      expect(end * 32).toBeGreaterThanOrEqual(scrollTop + 640);
      expect(end - first).toBeLessThanOrEqual(70);
    }
  });

  test("stays within a list that became shorter", () => {
    expect(selectWindow({ ...view, scrollTop: 9_000, count: 3 })).toEqual({ first: 3, end: 3 });
  });
});
