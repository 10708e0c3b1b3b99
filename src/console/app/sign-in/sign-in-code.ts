/** Returns the code of a one-time sign-in link, whose route is `#/sign-in/CODE`. */
export function readSignInCode(path: string): string | undefined {
  return /^sign-in\/(.+)$/.exec(path)?.[1];
}
