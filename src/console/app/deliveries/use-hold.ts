import { useEffect, useRef } from "preact/hooks";
import type { ListStore } from "./list-store.ts";

/**
 * Holds new rows back while the pointer is over the list, the keyboard focus is in it, or it is scrolled down, so that
 * nothing moves under the pointer. Returns the handlers for the element that scrolls.
 */
export function useHold(store: ListStore, scroller: { readonly current: HTMLElement | null }) {
  const reasons = useRef({ pointer: false, focus: false });
  const update = () => {
    const { pointer, focus } = reasons.current;
    store.hold(pointer || focus || (scroller.current?.scrollTop ?? 0) > 0);
  };
  // A new filter starts at the top.
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
    update();
  }, [store]);
  return {
    onScroll: update,
    onPointerEnter: ({ pointerType }: PointerEvent) => {
      // After a touch, nothing points at the list any longer.
      reasons.current.pointer = pointerType !== "touch";
      update();
    },
    onPointerLeave: () => {
      reasons.current.pointer = false;
      update();
    },
    onFocusIn: ({ target }: FocusEvent) => {
      reasons.current.focus = target instanceof Element && target.matches(":focus-visible");
      update();
    },
    onFocusOut: ({ relatedTarget }: FocusEvent) => {
      reasons.current.focus = relatedTarget instanceof Node && scroller.current?.contains(relatedTarget) === true;
      update();
    },
  };
}
