/** The system's name for a failure, as in " (ECONNREFUSED)". The texts around it may quote a stranger's server. */
export function systemCode(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return typeof code === "string" && /^[A-Z0-9_]{1,50}$/.test(code) ? ` (${code})` : "";
}
