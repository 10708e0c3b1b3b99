import { WebhookError } from "../core/errors.ts";
import type { Endpoint } from "./endpoint.ts";

/**
 * Finds an endpoint by its name. The name is optional if there is only one endpoint.
 *
 * @throws `ENDPOINT_REQUIRED`, `ENDPOINT_UNKNOWN`.
 */
export function findEndpoint(endpoints: ReadonlyMap<string, Endpoint>, name: string | undefined): Endpoint {
  const names = [...endpoints.keys()];
  if (name === undefined && names.length !== 1) {
    throw new WebhookError(
      `Choose the endpoint of the payload, as in receive(payload, { endpoint: "${names[0] ?? "retrain"}" }).`,
      { code: "ENDPOINT_REQUIRED" },
    );
  }
  const endpoint = endpoints.get(name ?? names[0] ?? "");
  if (endpoint) return endpoint;
  throw endpointUnknown(name, names);
}

/** The error of a name that no endpoint has. */
export function endpointUnknown(name: string | undefined, names: readonly string[]): WebhookError {
  return new WebhookError(
    names.length === 0 || name === undefined
      ? "The server has no endpoint. Register a handler with server.webhook()."
      : `Unknown endpoint ${JSON.stringify(name)}. Valid endpoints: ${names.join(", ")}.`,
    { code: "ENDPOINT_UNKNOWN", status: 404 },
  );
}

/** The error of a second endpoint with the same name. */
export function endpointExists(name: string): WebhookError {
  return new WebhookError(
    `An endpoint named "${name}" is already registered. Rename one of them. A class whose methods are endpoints can be instantiated only once.`,
    { code: "ENDPOINT_EXISTS" },
  );
}
