import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { HubClient, type Webhook, type WebhookRequest } from "../../src/client.ts";
import type { EndpointOptions } from "../../src/index.ts";
import { WebhooksServer } from "../../src/index.ts";
import { LocalHub, type LocalHubOptions } from "../../src/local-hub.ts";
import type { RegistrationReport } from "../../src/registration/reconcile.ts";
import { type RegisterOptions, register } from "../../src/registration/register.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { baseUrl, urlOf } from "./addresses.ts";

/** The secret of the servers here. It must appear in no file, report or message. */
export const secret = "Planted-5ecret-60ad2c";

export { baseUrl, urlOf };

/** A folder that is gone after the test. */
export function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "hub-webhooks-registration-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What may happen to a request on its way to the Hub, or to its answer. */
export type OnTheWay = (request: Request, send: (request: Request) => Promise<Response>) => Promise<Response>;

/** A local Hub with an owner's client, and a state file that is not there yet. */
export class Scene {
  readonly hub: LocalHub;
  readonly state = join(openFolder(), ".hub-webhooks", "registrations.json");
  /** `POST /path` of each request that the client has sent. */
  readonly calls: string[] = [];
  readonly client: HubClient;
  /** Everything passes, unless a test says otherwise. */
  onTheWay: OnTheWay = (request, send) => send(request);

  constructor(hub: LocalHub) {
    this.hub = hub;
    this.client = new HubClient({
      endpoint: hub.url,
      token: "hf_local",
      retries: 0,
      fetch: async (input, init) => {
        const request = new Request(input, init);
        this.calls.push(`${request.method} ${new URL(request.url).pathname.replace("/api/settings/webhooks", "…")}`);
        return this.onTheWay(request, (sent) => fetch(sent));
      },
    });
  }

  /** The requests that change something. */
  get writes(): readonly string[] {
    return this.calls.filter((call) => !call.startsWith("GET "));
  }

  register(server: WebhooksServer, options: Partial<RegisterOptions> = {}): Promise<RegistrationReport> {
    return register(server, this.client, { baseUrl, state: this.state, ...options });
  }

  webhooks(): Promise<Webhook[]> {
    return new HubClient({ endpoint: this.hub.url, token: "hf_local" }).webhooks.list();
  }

  /** A webhook that somebody makes by hand. */
  create(fields: Partial<WebhookRequest> = {}): Promise<Webhook> {
    const ordinary = { url: urlOf("by_hand"), watched: [{ type: "org" as const, name: "acme" }] };
    return new HubClient({ endpoint: this.hub.url, token: "hf_local" }).webhooks.create({
      ...{ ...ordinary, domains: ["repo"], ...fields },
    });
  }

  stateText(): string {
    return readFileSync(this.state, "utf8");
  }
}

/** Opens a scene, which is closed when the test is over. */
export async function openScene(options: LocalHubOptions = {}): Promise<Scene> {
  const hub = await LocalHub.launch({ backoff: 5, attempts: 1, ...options });
  onTestFinished(() => hub.close());
  return new Scene(hub);
}

/** A server with these endpoints. */
export function serverOf(
  endpoints: Record<string, EndpointOptions>,
  options: { secret?: string | string[] | false } = { secret },
): WebhooksServer {
  const server = new WebhooksServer({ logger: createMemoryLogger(), ...options });
  for (const [name, declared] of Object.entries(endpoints)) server.webhook(name, declared, () => {});
  return server;
}
