/** Headers that speak of one connection and must not be said on another; and "Expect", which Node answers itself. */
export const connectionHeaders: readonly string[] = [
  "connection",
  "expect",
  "keep-alive",
  "proxy-connection",
  "upgrade",
];
