/** A placeholder for content that loads. Appears after a moment, so that fast answers do not flicker. */
export function Loading() {
  return (
    <p class="loading">
      <span class="spinner" /> Loading…
    </p>
  );
}
