import { options, type VNode } from "preact";

declare module "preact" {
  /** What Preact's types leave out. Its builds have these names in all versions, because plugins depend on them. */
  interface VNode<P> {
    /** The component. */
    __c?: object | null;
    /** What the component rendered. */
    __k?: unknown;
    /** The parent. */
    __?: unknown;
  }
}

/**
 * Releases what a component rendered before, after it has rendered again.
 *
 * Preact leaves the vnode of an earlier rendering in the `children` of its parent. An unchanged child links earlier renderings to
 * later ones. Without this hook, a page with live data keeps all of them, with the removed elements.
 */
export function releaseVNodes(): void {
  const latest = new WeakMap<object, VNode>();
  const next = options.diffed;
  options.diffed = (vnode) => {
    next?.(vnode);
    if (!vnode.__c) return;
    const earlier = latest.get(vnode.__c);
    latest.set(vnode.__c, vnode);
    if (earlier === undefined || earlier === vnode) return;
    earlier.__k = null;
    earlier.__ = null;
  };
}
