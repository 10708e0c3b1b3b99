import { WebhookError } from "../core/errors.ts";
import type { Endpoint } from "./endpoint.ts";

/**
 * The endpoint of a name, which may be left out where there is only one.
 *
 * @throws `ENDPOINT_REQUIRED`, `ENDPOINT_UNKNOWN`.
 */
export function findEndpoint(endpoints: ReadonlyMap<string, Endpoint>, name: string | undefined): Endpoint {
  const names = [...endpoints.keys()];
  if (name === undefined && names.length !== 1) {
    throw new WebhookError(
      `Say which endpoint the payload is for, as in receive(payload, { endpoint: "${names[0] ?? "retrain"}" }).`,
      { code: "ENDPOINT_REQUIRED" },
    );
  }
  const endpoint = endpoints.get(name ?? names[0] ?? "");
  if (endpoint) return endpoint;
  throw new WebhookError(
    `There is no endpoint "${name}": name one that the server has: ${names.join(", ") || "none yet"}.`,
    { code: "ENDPOINT_UNKNOWN", status: 404 },
  );
}

/** What is thrown where a second endpoint takes a name. */
export function endpointExists(name: string): WebhookError {
  return new WebhookError(
    `An endpoint named "${name}" is registered already: give one of the two another name. A class whose methods are endpoints can be instantiated once.`,
    { code: "ENDPOINT_EXISTS" },
  );
}
