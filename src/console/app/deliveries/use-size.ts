import { useLayoutEffect, useState } from "preact/hooks";

/** Returns the size of an element in pixels, and follows it. */
export function useSize(element: { readonly current: HTMLElement | null }): { width: number; height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const target = element.current;
    if (!target) return;
    const read = () => setSize({ width: target.clientWidth, height: target.clientHeight });
    read();
    const observer = new ResizeObserver(read);
    observer.observe(target);
    return () => observer.disconnect();
  }, [element]);
  return size;
}
