/** The rows that are in the document. */
export interface RowWindow {
  first: number;
  /** The index after the last row. */
  end: number;
}

/** The window moves in steps, so that most scroll events change nothing. */
const stepRows = 10;
/** The rows above and below the view, so that the keyboard and fast scrolling find them. */
const extraRows = 20;

/** Selects the rows to render. Only those near the view are in the document, because each costs time in every frame. */
export function selectWindow({
  scrollTop,
  height,
  rowHeight,
  count,
}: {
  scrollTop: number;
  height: number;
  rowHeight: number;
  count: number;
}): RowWindow {
  const step = Math.floor(scrollTop / rowHeight / stepRows) * stepRows;
  const first = Math.min(Math.max(0, step - extraRows), count);
  return { first, end: Math.min(count, step + stepRows + Math.ceil(height / rowHeight) + extraRows) };
}

/** The heights of rows and cards, in `rem`. `list.css` has the same. */
const rowRem = 2;
const cardRem = 3.25;

/** Returns the height of a row in pixels. */
export function readRowHeight(isCards: boolean): number {
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  return rem * (isCards ? cardRem : rowRem);
}
