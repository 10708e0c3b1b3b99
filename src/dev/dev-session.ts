import { inspect } from "node:util";
import { messageOf } from "../core/describe-error.ts";
import { WebhookError } from "../core/errors.ts";
import { maskUrl } from "../core/urls.ts";
import type { KnownWatched } from "../payload/watch.ts";
import { dashboardPath } from "../receiver/dashboard/serve.ts";
import { webhooksPath } from "../receiver/delivery-request.ts";
import type { TemporaryWebhooks } from "../registration/temporary-webhooks.ts";
import type { ServerDescription } from "../server-file/protocol.ts";
import { createProbe, type Probe } from "../tunnel/probe.ts";
import { type OpenTunnelOptions, openProbedTunnel, type Tunnel } from "../tunnel/tunnel.ts";
import type { DevEvent, DevReady } from "./dev-event.ts";
import { type DevHub, openDevHub, usualHubPort } from "./dev-hub.ts";
import type { StartDevOptions } from "./dev-options.ts";
import { FrontDoor, usualPort } from "./dev-proxy.ts";
import { watchByDefault } from "./endpoint-defaults.ts";
import type { Replayed } from "./passed-delivery.ts";
import { ReloadingServer } from "./reloading-server.ts";
import { devInboxUrl, planSession, type SessionPlan } from "./session-plan.ts";
import { noteSessionSecret } from "./session-secret.ts";
import { suggestTrigger } from "./suggested-trigger.ts";
import { type DesiredWebhooks, openSessionWebhooks, WebhookReconciler } from "./webhook-reconciler.ts";

/** A server file that runs, is loaded anew when it changes, and is registered, until it is closed. */
export interface DevSession extends AsyncDisposable {
  /** Where everything is now. */
  readonly state: DevReady;
  /**
   * The secret that was made for this session, where the server has none of its own and no public address leads to it: send
   * it with a delivery of your own, as `X-Webhook-Secret`. The local Hub and `hub-webhooks trigger` send it by themselves.
   */
  readonly secret: string | undefined;
  /**
   * Sends the latest delivery once more, as a new one. `undefined` where there was none yet.
   *
   * @throws `SERVER_FILE_INVALID` while the file does not load.
   */
  replay(): Promise<Replayed | undefined>;
  /** Deletes the webhooks of the session, closes the tunnel and ends the server. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Runs the file of a server as `hub-webhooks dev` does: behind an address that stays while the file is loaded anew on
 * every change, registered on a Hub by webhooks that are deleted at the end. Resolves when a delivery would arrive: a
 * request through the public address has come back.
 *
 * @throws `SERVER_FILE_INVALID`, `OPTION_INVALID`, `PORT_IN_USE`, `TUNNEL_FAILED`, `STATE_UNUSABLE`, what the Hub
 * refuses (`HUB_TOKEN_MISSING`, `HUB_UNAUTHORIZED`, …), and the reason of `signal`.
 * @example
 * ```ts
 * await using dev = await startDev({ file: "server.ts", onEvent: (event) => console.log(event) });
 * console.log(dev.state.endpoints);
 * ```
 */
export async function startDev(options: StartDevOptions = {}): Promise<DevSession> {
  const { signal } = options;
  signal?.throwIfAborted();
  const session = new Session(options, planSession(options));
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const abort = () => aborted.reject(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([session.open(), aborted.promise]);
  } catch (error) {
    await session.close();
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
  signal?.addEventListener("abort", () => void session.close(), { once: true });
  return session;
}

/** What a session is made of once it is open. */
interface Parts {
  door: FrontDoor;
  hub: DevHub;
  server: ReloadingServer;
  tunnel: Tunnel;
  keeper: WebhookReconciler;
}

class Session implements DevSession {
  readonly #options: StartDevOptions;
  readonly #plan: SessionPlan;
  readonly #parts: Partial<Parts> = {};
  /** Ends what was opened; the latest first. */
  readonly #closers: (() => Promise<void>)[] = [];
  readonly #firstServing = Promise.withResolvers<void>();
  #description: ServerDescription = { endpoints: [] };
  #isReady = false;
  #isSecretNoted = false;
  #closed: Promise<void> | undefined;
  /** Aborts what is being opened. */
  readonly #ending = new AbortController();
  /** What is being opened, and closes itself when the session is over by then. */
  readonly #opening: Promise<unknown>[] = [];

  constructor(options: StartDevOptions, plan: SessionPlan) {
    this.#options = options;
    this.#plan = plan;
    this.#firstServing.promise.catch(() => {});
  }

  get state(): DevReady {
    const { door, hub, tunnel } = this.#parts;
    const publicUrl = tunnel?.url ?? door?.url ?? "";
    const hasBackground = this.#description.endpoints.some(({ background }) => background);
    return {
      url: door?.url ?? "",
      publicUrl,
      hub: { kind: this.#plan.isReal ? "real" : "local", url: hub?.client.endpoint ?? "" },
      ...(hasBackground && { console: `${door?.url ?? ""}${dashboardPath}`, inbox: maskUrl(this.#inbox(door)) }),
      endpoints: this.#description.endpoints.map((endpoint) => {
        const watched = this.#watchOf(endpoint);
        const trigger = this.#plan.isReal ? undefined : suggestTrigger({ endpoint, watched });
        return {
          name: endpoint.name,
          url: `${publicUrl}${webhooksPath}${endpoint.name}`,
          watch: watched.map(({ type, name }) => `${type}:${name}`),
          ...(trigger && { trigger }),
        };
      }),
    };
  }

  get secret(): string | undefined {
    const { text, use } = this.#plan.secret;
    return use === "where-open" && this.#description.secret === text ? text : undefined;
  }

  open(): Promise<void> {
    const opening = this.#open();
    this.#opening.push(opening);
    return opening;
  }

  async #open(): Promise<void> {
    const { path, tunnel: tunnelOptions, publicUrl, isPublic, secret, repairMs } = this.#plan;
    const probe = createProbe();
    const door = await FrontDoor.open({
      port: this.#options.port,
      probe,
      // By an address of the user's own any host leads here.
      takesAnyHost: publicUrl !== undefined,
      onForeignHost: (host) => this.#tellProblem(foreignHost(host, this.#part("door").url)),
      // Until it is first loaded there is none to ask.
      serverPort: () => this.#parts.server?.port ?? this.#firstServing.promise.then(() => this.#part("server").port),
      onDelivery: (delivery) => this.#tell({ event: "delivery", ...delivery }),
      onProblem: (message) => this.#tell({ event: "problem", code: "REQUEST_REFUSED", message }),
    });
    await this.#opened("door", door);
    const hub = await openDevHub({ ...this.#options, allowRemote: isPublic, signal: this.#ending.signal });
    await this.#opened("hub", hub);
    this.#tellTakenPorts({ door, hub });
    const server = new ReloadingServer({
      path,
      launched: { port: door.port, url: door.url, publicUrl: door.url },
      // By an address of the user's own everybody reaches all of the server, the dashboard too.
      environment: { ...hub.environment, ...(publicUrl !== undefined && { PUBLIC_URL: publicUrl }) },
      ...{ secret, inbox: this.#inbox(door) },
      onOutput: (line) => this.#tell({ event: "output", ...line }),
      onReload: (files) => this.#tell({ event: "reloading", files }),
      onServing: (description) => this.#served(description),
      onBroken: ({ error, isRestarted }) => this.#broke(error, isRestarted),
    });
    await this.#opened("server", server);
    server.start();
    // Each of the three takes a while and needs none of the others; whichever fails first is told.
    const openingTunnel = this.#openTunnel(
      tunnelOptions === false
        ? { publicUrl: publicUrl ?? door.url, port: door.port }
        : { ...tunnelOptions, port: door.publicPort },
      probe,
    );
    const openingWebhooks = this.#openWebhooks(hub, { url: `${door.url}${probe.path}`, answer: probe.answer });
    this.#opening.push(openingTunnel, openingWebhooks);
    const [tunnel, webhooks] = await Promise.all([openingTunnel, openingWebhooks, this.#firstServing.promise]);
    server.setPublicUrl(tunnel.url);
    const keeper = new WebhookReconciler({
      webhooks,
      onSteps: (steps) => this.#tell({ event: "webhooks", steps }),
      onProblem: (error) => this.#tellProblem(error),
    });
    await this.#opened("keeper", keeper);
    await keeper.start(this.#desiredWebhooks(tunnel));
    if (this.#closed) throw closedMeanwhile();
    const repairs = setInterval(() => void keeper.repair(), repairMs);
    this.#closers.push(async () => clearInterval(repairs));
    this.#isReady = true;
    this.#tell({ event: "ready", ...this.state });
  }

  async replay(): Promise<Replayed | undefined> {
    return this.#part("door").replay();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const over = closedMeanwhile();
    this.#ending.abort(over);
    this.#firstServing.reject(over);
    await this.#closeOpened();
    await Promise.allSettled(this.#opening);
    // What was being opened may have left something to be closed, too.
    await this.#closeOpened();
  }

  async #closeOpened(): Promise<void> {
    for (let closer = this.#closers.pop(); closer; closer = this.#closers.pop()) await closer();
  }

  #part<Name extends keyof Parts>(name: Name): Parts[Name] {
    const part = this.#parts[name];
    if (part) return part;
    throw new WebhookError("This session is not open yet, or not any more: wait for startDev(), or call it again.", {
      code: "CLOSING",
    });
  }

  /** Keeps a part for as long as the session lasts; one that is over already ends the part too. */
  async #opened<Name extends keyof Parts>(name: Name, part: Parts[Name]): Promise<void> {
    this.#parts[name] = part;
    if (this.#closed) {
      await part.close();
      throw closedMeanwhile();
    }
    this.#closers.push(() => part.close());
  }

  async #openTunnel(options: OpenTunnelOptions, probe: Probe): Promise<Tunnel> {
    const tunnel = await openProbedTunnel({ ...options, signal: this.#ending.signal }, { probe });
    await this.#opened("tunnel", tunnel);
    tunnel.on("down", (error) => this.#tell({ event: "down", reason: error.message }));
    tunnel.on("error", (error) => {
      if (tunnel.status === "up") this.#tellProblem(error);
    });
    tunnel.on("urlChanged", (publicUrl) => {
      this.#parts.server?.setPublicUrl(publicUrl);
      this.#tell({ event: "urlChanged", publicUrl });
    });
    // The Hub may have suspended meanwhile what it could not deliver, and the address may be another one.
    tunnel.on("up", () => {
      this.#tell({ event: "up", publicUrl: tunnel.url });
      void this.#keepWebhooks();
    });
    return tunnel;
  }

  async #openWebhooks(hub: DevHub, alive: { url: string; answer: string }): Promise<TemporaryWebhooks> {
    const { webhooks, release } = await openSessionWebhooks({
      ...{ hub: hub.client, isReal: this.#plan.isReal, state: this.#options.state, alive, signal: this.#ending.signal },
      onSteps: (steps) => this.#tell({ event: "webhooks", steps }),
      onProblem: (problem) => this.#tellProblem(problem),
    });
    // Last of all: until then something may be noted.
    this.#closers.unshift(release);
    return webhooks;
  }

  /** Where nobody has said which, another port was taken without a word. */
  #tellTakenPorts({ door, hub }: { door: FrontDoor; hub: DevHub }): void {
    const { port, hubPort } = this.#options;
    const say = (message: string) => this.#tellProblem({ code: "PORT_IN_USE", message });
    if (port === undefined && door.port !== usualPort) say(`Port ${usualPort} is taken: the server is at ${door.url}.`);
    if (this.#plan.isReal || hubPort !== undefined || hub.client.endpoint.endsWith(`:${usualHubPort}`)) return;
    say(
      `Port ${usualHubPort} is taken, perhaps by another local Hub: the one of this session is ${hub.client.endpoint}.`,
    );
  }

  /** A Hub that cannot be reached just now is tried again: this never rejects. */
  async #keepWebhooks(): Promise<void> {
    const { keeper, tunnel } = this.#parts;
    if (keeper && tunnel) await keeper.update(this.#desiredWebhooks(tunnel));
  }

  #desiredWebhooks(tunnel: Tunnel): DesiredWebhooks {
    return {
      endpoints: this.#description.endpoints
        .map((endpoint) => ({ name: endpoint.name, watched: this.#watchOf(endpoint), domains: endpoint.domains }))
        .filter(({ watched }) => watched.length > 0),
      baseUrl: tunnel.url,
      secret: this.#description.secret ?? null,
    };
  }

  #served(description: ServerDescription): void {
    this.#description = description;
    this.#noteSecret();
    this.#firstServing.resolve();
    void this.#keepWebhooks().then(() => {
      if (this.#isReady) this.#tell({ event: "reloaded", endpoints: this.state.endpoints });
    });
  }

  /** For `trigger --url`, once the server is known to have no secret of its own. */
  #noteSecret(): void {
    const { secret } = this;
    if (secret === undefined || this.#isSecretNoted || this.#closed) return;
    this.#isSecretNoted = true;
    try {
      const remove = noteSessionSecret({ port: this.#part("door").port, secret });
      this.#closers.push(async () => remove());
    } catch (error) {
      this.#tellProblem({
        code: "FOLDER_UNUSABLE",
        message: `trigger --url cannot find the secret of this session (${messageOf(error)}): give it by --secret-stdin.`,
      });
    }
  }

  #broke(error: WebhookError, isRestarted: boolean): void {
    if (!this.#isReady && !this.#options.waitsForFile) this.#firstServing.reject(error);
    else {
      const stack = error.cause instanceof Error ? error.cause.stack : undefined;
      this.#tell({ event: "broken", reason: error.message, ...(stack !== undefined && { stack }), isRestarted });
    }
  }

  #inbox(door: FrontDoor | undefined): string {
    return this.#plan.inbox ?? devInboxUrl(door?.port ?? usualPort);
  }

  #watchOf(endpoint: ServerDescription["endpoints"][number]): readonly KnownWatched[] {
    if (endpoint.watch.length > 0) return endpoint.watch;
    if (this.#plan.watch) return this.#plan.watch;
    return this.#plan.isReal ? [] : watchByDefault(endpoint);
  }

  #tellProblem({ code, message }: { code: string; message: string }): void {
    this.#tell({ event: "problem", code, message });
  }

  #tell(event: DevEvent): void {
    if (this.#closed && event.event !== "output" && event.event !== "problem") return;
    const { onEvent } = this.#options;
    // Whatever it throws, or rejects with, would end the session, and the process with it.
    (async () => onEvent?.(event))().catch((reason: unknown) => {
      process.emitWarning(`The listener of the session's event "${event.event}" failed: ${inspect(reason)}`);
    });
  }
}

function foreignHost(host: string, url: string) {
  return {
    code: "CROSS_SITE_REFUSED",
    message: `A request for the host ${JSON.stringify(host)} was refused, since a page of another site may have sent it. Use ${url}, or --public-url for a proxy of your own.`,
  };
}

function closedMeanwhile(): WebhookError {
  return new WebhookError("This session was closed while it started.", { code: "CLOSING" });
}
