/** The product's mark. It stands beside the product's name. */
export function Mark({ size = 24 }: { size?: number }) {
  return (
    <svg class="mark" viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
      <rect class="mark-ground" width="32" height="32" rx="9" />
      <circle class="mark-dot" cx="20.5" cy="8.5" r="2.75" />
      <path class="mark-line" d="M20.5 11.5v6.75a5.75 5.75 0 0 1-11.5 0V16" />
      <path class="mark-line" d="M5.75 18.75 9 15.5l3.25 3.25" />
    </svg>
  );
}
