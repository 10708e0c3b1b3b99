import type { ComponentChildren } from "preact";

/** Replaces an empty list with the reason and the next step. */
export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty-state">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
