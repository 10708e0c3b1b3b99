import type { ComponentChildren } from "preact";

/** What to show in place of an empty list: why it is empty, and what to do next. */
export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty-state">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
