import { WebhookError } from "../../core/errors.ts";

/** Allows only characters that URLs never encode, so that paths can be compared without decoding. */
const namePattern = /^[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*$/;

/**
 * Reads a name, and removes leading and trailing slashes, because names in the Hub's Python library can start with a
 * slash.
 *
 * @throws `ENDPOINT_NAME_MISSING`, `ENDPOINT_NAME_INVALID`.
 */
export function readEndpointName(given: string | undefined): string {
  if (!given) {
    throw new WebhookError(
      'The endpoint has no name. Pass a named function, or pass a name, as in webhook("retrain", handler).',
      {
        code: "ENDPOINT_NAME_MISSING",
      },
    );
  }
  const name = given.replace(/^\/+|\/+$/g, "");
  // Rejects the segments "." and "..", because clients resolve them before they send a request.
  if (!namePattern.test(name) || name.split("/").some((part) => part === "." || part === "..")) {
    throw new WebhookError(
      `Invalid endpoint name ${JSON.stringify(given)}. Use letters, digits, ".", "_" and "-", and separate segments with slashes, as in webhook("acme/retrain", handler).`,
      { code: "ENDPOINT_NAME_INVALID" },
    );
  }
  return name;
}
