import { keyText } from "./links.ts";
import type { ListStore } from "./list-store.ts";

/** Scrolls to a delivery's row and focuses its link. Does nothing if the list does not contain it. */
export function focusRow(store: ListStore, key: string): void {
  const rows = store.list.value.rows;
  const index = rows.findIndex((row) => keyText(row) === key);
  const scroller = document.querySelector<HTMLElement>(".list-scroller");
  const body = scroller?.querySelector("tbody");
  if (index === -1 || !scroller || !body) return;
  const rowHeight = body.offsetHeight / rows.length;
  const top = index * rowHeight;
  const headerHeight = scroller.querySelector("thead")?.offsetHeight ?? 0;
  const viewHeight = scroller.clientHeight - headerHeight - rowHeight;
  if (top < scroller.scrollTop) scroller.scrollTop = top;
  else if (top > scroller.scrollTop + viewHeight) scroller.scrollTop = top - viewHeight;
  // After scrolling, the row may be rendered in the next frame only.
  const focus = () => findRowLink(key)?.focus({ preventScroll: true });
  if (findRowLink(key)) focus();
  else requestAnimationFrame(() => requestAnimationFrame(focus));
}

function findRowLink(key: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`.delivery[data-key="${CSS.escape(key)}"] .row-link`);
}
