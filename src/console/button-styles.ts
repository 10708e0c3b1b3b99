/** The style of the buttons that `selector` finds, in the colours of the base styles. */
export function buttonStyles(selector: string): string {
  return `${selector} {
  padding: 0.3125rem 0.75rem;
  border: 1px solid var(--line);
  border-radius: 0.375rem;
  background: var(--surface);
  color: var(--ink);
  font: inherit;
  font-size: 0.8125rem;
  font-weight: 600;
  line-height: 1.5;
  cursor: pointer;
}`;
}
