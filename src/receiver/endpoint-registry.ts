import { WebhookError } from "../core/errors.ts";
import type { EndpointDetails } from "./control.ts";
import type { EndpointRegistration } from "./counts.ts";
import type { Endpoint } from "./endpoint.ts";

/** The endpoints of a server, in the order of their registration. */
export class EndpointRegistry {
  readonly #byName = new Map<string, Endpoint>();

  get byName(): ReadonlyMap<string, Endpoint> {
    return this.#byName;
  }

  get all(): readonly Endpoint[] {
    return [...this.#byName.values()];
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  get backgroundEndpoints(): readonly Endpoint[] {
    return this.all.filter(({ queue }) => queue !== undefined);
  }

  describe(): readonly EndpointDetails[] {
    return this.all.map(({ queue, ...endpoint }) => {
      const { name, watch, domains, warnings, repos, scopes, actions, refs, paths, ignoreSelf } = endpoint;
      const filter = { repos, scopes, actions, refs, paths, ignoreSelf };
      return { name, watch, domains, ...filter, warnings, background: queue !== undefined };
    });
  }

  assertNew(name: string): void {
    if (!this.#byName.has(name)) return;
    throw new WebhookError(
      `An endpoint named "${name}" is already registered. Rename one of the endpoints. A class whose methods are endpoints can be instantiated only once.`,
      { code: "ENDPOINT_EXISTS" },
    );
  }

  add(endpoint: Endpoint): void {
    this.#byName.set(endpoint.name, endpoint);
  }

  /** Sets whether webhooks on the Hub deliver to the endpoints, by endpoint. */
  setRegistrations(registrations: ReadonlyMap<string, EndpointRegistration>): void {
    for (const { name, activity } of this.all) activity.registration = registrations.get(name) ?? activity.registration;
  }

  /**
   * Returns the endpoint with this name. Without a name, returns the only endpoint.
   *
   * @throws `ENDPOINT_REQUIRED`, `ENDPOINT_UNKNOWN`.
   */
  find(name: string | undefined): Endpoint {
    const { names } = this;
    if (name === undefined && names.length !== 1) {
      throw new WebhookError(
        `The server does not have exactly one endpoint. Choose an endpoint, as in receive(payload, { endpoint: "${names[0] ?? "retrain"}" }).`,
        { code: "ENDPOINT_REQUIRED" },
      );
    }
    const endpoint = this.#byName.get(name ?? names[0] ?? "");
    if (endpoint) return endpoint;
    throw endpointUnknown(name, names);
  }
}

export function endpointUnknown(name: string | undefined, names: readonly string[]): WebhookError {
  return new WebhookError(
    names.length === 0 || name === undefined
      ? "The server has no endpoints. Register a handler with server.webhook()."
      : `Unknown endpoint ${JSON.stringify(name)}. Valid endpoints: ${names.join(", ")}.`,
    { code: "ENDPOINT_UNKNOWN", status: 404 },
  );
}
