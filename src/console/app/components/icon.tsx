/** The paths of the icons, 16 by 16 units, drawn with a line of 1.5 units. */
const paths = {
  queued: "M8 2.25a5.75 5.75 0 1 0 0 11.5a5.75 5.75 0 0 0 0-11.5M8 5v3.25l2 1.25",
  retrying: "M13 8a5 5 0 1 1-1.6-3.7M13 2.25v2.5h-2.5",
  running: "M5.25 3.5v9l7-4.5z",
  succeeded: "M3 8.5l3.25 3.25L13 4.75",
  ignored: "M3.5 8h9",
  failed: "M4 4l8 8M12 4l-8 8",
  dead: "M5.5 2.25h5l3.25 3.25v5l-3.25 3.25h-5L2.25 10.5v-5zM8 5v3.5M8 10.75v.01",
  cancelled: "M8 2.25a5.75 5.75 0 1 0 0 11.5a5.75 5.75 0 0 0 0-11.5M4 12l8-8",
  copy: "M6 5.75h7.25v7.5H6zM10 5.5V2.75H2.75v7.5h3",
  close: "M4 4l8 8M12 4l-8 8",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 0 0 0-9M10.25 10.25L13.5 13.5",
  external: "M6.5 3H3v10h10V9.5M9 2.75h4.25V7M13 3L7.5 8.5",
  folder: "M2.5 3.5h4L8 5h5.5v7.5h-11z",
  replay: "M3 8a5 5 0 1 0 1.6-3.7M3 2.25v2.5h2.5",
  edit: "M10.5 3l2.5 2.5L6 12.5l-3 .5l.5-3z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5.25 3.5v9l7-4.5z",
  discard: "M3 4.5h10M6.25 4.5v-2h3.5v2M4.5 4.5l.5 9h6l.5-9",
  light:
    "M8 5a3 3 0 1 0 0 6a3 3 0 0 0 0-6M8 1v1.25M8 13.75V15M1 8h1.25M13.75 8H15M3.05 3.05l.9.9M12.05 12.05l.9.9M12.95 3.05l-.9.9M3.95 12.05l-.9.9",
  dark: "M13.25 9.5A5.75 5.75 0 1 1 6.5 2.75a4.5 4.5 0 0 0 6.75 6.75z",
  system: "M2.25 3h11.5v8H2.25zM5.5 13.5h5",
  help: "M5.75 6a2.25 2.25 0 1 1 3.25 2c-.75.4-1 .8-1 1.5M8 12v.01",
  signOut: "M6 3H3v10h3M7 8h6.25M10.75 5.25L13.5 8l-2.75 2.75",
  chevron: "M6 4l4 4l-4 4",
  arrowUp: "M8 13V3.5M4 7l4-4l4 4",
  filter: "M2.5 4h11M4.5 8h7M6.5 12h3",
  plus: "M8 3v10M3 8h10",
} as const;

export type IconName = keyof typeof paths;

/** A decorative icon. It always stands beside a word, or inside a control with a label. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
