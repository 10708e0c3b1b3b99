import { WebhookError } from "../core/errors.ts";

/**
 * Imports optional packages. The names are variables, because bundlers fail on `import("name")` if the package is not installed.
 *
 * @throws `INBOX_UNUSABLE` if a package is not installed.
 */
export async function loadPackages<const Names extends readonly string[], Packages>(
  names: Names,
  loading: (...names: Names) => Promise<Packages>,
): Promise<Packages> {
  try {
    return await loading(...names);
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && /MODULE_NOT_FOUND$/.test(String(cause.code));
    if (!isMissing) throw cause;
    throw new WebhookError(
      `The inbox at INBOX_URL needs packages that are not installed. Run \`npm install ${names.join(" ")}\`.`,
      { code: "INBOX_UNUSABLE", cause },
    );
  }
}
