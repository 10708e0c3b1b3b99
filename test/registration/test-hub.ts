import { readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  HubClient,
  type RegisterOptions,
  type RegistrationReport,
  register,
  type Webhook,
  type WebhookRequest,
} from "../../src/client.ts";
import { type EndpointOptions, WebhooksServer, type WebhooksServerOptions } from "../../src/index.ts";
import { LocalHub, type LocalHubOptions } from "../../src/local-hub.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { createFolder } from "../support/temporary-folder.ts";

/** The secret of the test servers. It must not appear in files, reports, or messages. */
export const secret = "Planted-5ecret-60ad2c";

/** Intercepts a request to the Hub. */
export type Intercept = (request: Request, send: (request: Request) => Promise<Response>) => Promise<Response>;

/** A local Hub with a client and the path of a new state file. */
export class TestHub {
  readonly hub: LocalHub;
  readonly state = join(createFolder(), ".hub-webhooks", "registrations.json");
  /** The requests of the client, as `POST /path`. */
  readonly calls: string[] = [];
  readonly client: HubClient;
  /** Forwards all requests, unless a test replaces it. */
  intercept: Intercept = (request, send) => send(request);

  constructor(hub: LocalHub, attempts: number) {
    this.hub = hub;
    this.client = new HubClient({
      hubUrl: hub.url,
      token: "hf_local",
      attempts,
      fetch: async (input, init) => {
        const request = new Request(input, init);
        this.calls.push(`${request.method} ${new URL(request.url).pathname.replace("/api/settings/webhooks", "…")}`);
        return this.intercept(request, (sent) => fetch(sent));
      },
    });
  }

  /** Returns the requests that change data. */
  get writes(): readonly string[] {
    return this.calls.filter((call) => !call.startsWith("GET "));
  }

  register(server: WebhooksServer, options: Partial<RegisterOptions> = {}): Promise<RegistrationReport> {
    return register(server, this.client, { publicUrl, state: this.state, ...options });
  }

  webhooks(): Promise<Webhook[]> {
    return new HubClient({ hubUrl: this.hub.url, token: "hf_local" }).webhooks.list();
  }

  /** Creates a webhook that does not belong to a server. */
  create(fields: Partial<WebhookRequest> = {}): Promise<Webhook> {
    const ordinary = { url: urlOf("by_hand"), watched: [{ type: "org" as const, name: "acme" }] };
    return new HubClient({ hubUrl: this.hub.url, token: "hf_local" }).webhooks.create({
      ...{ ...ordinary, domains: ["repo"], ...fields },
    });
  }

  stateText(): string {
    return readFileSync(this.state, "utf8");
  }
}

/** Opens a test Hub and closes it after the test. `attempts`: those of the client for each request. */
export async function openTestHub(options: LocalHubOptions = {}, attempts = 1): Promise<TestHub> {
  const hub = await LocalHub.launch({ backoff: 5, attempts: 1, ...options });
  onTestFinished(() => hub.close());
  return new TestHub(hub, attempts);
}

/** Creates a server with these endpoints. */
export function serverOf(
  endpoints: Record<string, EndpointOptions>,
  options: Pick<WebhooksServerOptions, "secret" | "landingPage"> = { secret: false },
): WebhooksServer {
  const server = new WebhooksServer({ logger: createMemoryLogger(), ...options });
  for (const [name, declared] of Object.entries(endpoints)) server.webhook(name, declared, () => {});
  return server;
}

/** The public URL of the test servers. */
export const publicUrl = "http://127.0.0.1:7860";

export function urlOf(endpoint: string): string {
  return `${publicUrl}/webhooks/${endpoint}`;
}
