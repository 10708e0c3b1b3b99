import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { HubClient, type Webhook } from "../../src/client.ts";
import type { DevEvent } from "../../src/dev/dev-event.ts";
import type { StartDevOptions } from "../../src/dev/dev-options.ts";
import type { DevSession } from "../../src/dev/dev-session.ts";
import { startDev } from "../../src/dev/dev-session.ts";
import type { HubDelivery } from "../../src/local-hub/delivery/hub-delivery.ts";
import { LocalHub } from "../../src/local-hub.ts";
import { freePort } from "../support/free-port.ts";
import { listen } from "../support/listen.ts";
import { makeProject, type Project } from "../support/project-folder.ts";

/** The secret of the test servers. It must not appear in events or state files. */
export const secret = "Planted-5ecret-60ad2c";

/** The timeout of an event, long enough for a busy machine. */
const pollOptions = { timeout: 15_000, interval: 20 };

/** Returns the source of a server file with these endpoints and options. The options and handlers are source code. */
export function serverFile(
  endpoints: Readonly<Record<string, { options?: string; handler?: string }>>,
  options = `{ secret: "${secret}" }`,
): string {
  const declared = Object.entries(endpoints).map(
    ([name, { options = "{}", handler = "() => 'done'" }]) => `server.webhook("${name}", ${options}, ${handler});`,
  );
  return `
    import { WebhooksServer } from "hub-webhooks";
    const server = new WebhooksServer(${options});
    ${declared.join("\n")}
    export default server;
    await server.launch();`;
}

/** A server with one endpoint that watches one dataset. */
export const watchingFile = watchingFileWith();

/** Returns the source of a server with these options and one endpoint that watches one dataset. */
export function watchingFileWith(options?: string): string {
  return serverFile({ retrain: { options: '{ watch: "dataset:me/data" }' } }, options);
}

/** The environment of the developer's machine must not affect a session. */
export function clearEnvironment(): void {
  for (const name of ["HF_ENDPOINT", "HF_TOKEN", "PORT", "TUNNEL", "PUBLIC_URL", "WEBHOOK_SECRET"]) {
    vi.stubEnv(name, undefined);
  }
}

/** Creates a project that is deleted after the test. */
export async function openProject(files: Readonly<Record<string, string>> = {}): Promise<Project> {
  clearEnvironment();
  const project = await makeProject({ "server.ts": watchingFile, ...files });
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await project[Symbol.asyncDispose]();
  });
  return project;
}

/** Returns the state file of a session in this project. */
export function stateOf(project: Project): string {
  return join(project.path, ".hub-webhooks", "registrations.json");
}

/** Returns options of a session in this project on free ports. */
export function optionsIn(project: Project, options: StartDevOptions = {}): StartDevOptions {
  return {
    file: join(project.path, "server.ts"),
    ...{ port: 0, hubPort: 0, state: stateOf(project) },
    inbox: `sqlite:${join(project.path, "dev.db")}`,
    ...options,
  };
}

/** A session with its recorded events. */
export interface RecordedSession {
  session: DevSession;
  events: DevEvent[];
  /** Returns the names of the events so far, without output. */
  names(): string[];
  /** Resolves once the latest event of this name is the `count`th. */
  until<Name extends DevEvent["event"]>(name: Name, count?: number): Promise<Extract<DevEvent, { event: Name }>>;
}

/** Starts a session that is closed after the test. */
export async function startIn(project: Project, options: StartDevOptions = {}): Promise<RecordedSession> {
  const events: DevEvent[] = [];
  const { onEvent } = options;
  const session = await startDev({
    ...optionsIn(project, options),
    onEvent(event) {
      events.push(event);
      return onEvent?.(event);
    },
  });
  onTestFinished(() => session.close());
  const hasName = <Name extends DevEvent["event"]>(
    event: DevEvent,
    name: Name,
  ): event is Extract<DevEvent, { event: Name }> => event.event === name;
  return {
    session,
    events,
    names: () => events.map(({ event }) => event).filter((name) => name !== "output"),
    async until(name, count = 1) {
      const matching = () => events.filter((event) => hasName(event, name));
      await expect.poll(() => matching().length, pollOptions).toBeGreaterThanOrEqual(count);
      const found = matching()[count - 1];
      if (!found) throw new Error(`There is no event ${name}.`);
      return found;
    },
  };
}

/** Sends a push event to the local Hub of a session. */
export async function push({ state }: DevSession, name = "me/data"): Promise<HubDelivery[]> {
  const answer = await fetch(`${state.hub.url}/_local/events?wait=true`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ repo: { type: "dataset", name }, event: { scope: "repo.content", action: "update" } }),
  });
  const { deliveries }: { deliveries: HubDelivery[] } = await answer.json();
  return deliveries;
}

/** Returns the status of the response, or `undefined` to forward the request. */
export type Intercept = (request: {
  method: string;
  path: string;
  body: string;
}) => Promise<number | undefined> | number | undefined;

/** Opens a proxy in front of a Hub that can fail requests, and returns its URL. */
export async function openFailingHub(hubUrl: string, intercept: Intercept): Promise<string> {
  const server = createServer(async (incoming, outgoing) => {
    const { method = "GET", url: path = "/", headers } = incoming;
    const body = Buffer.concat(await incoming.toArray());
    const status = await intercept({ method, path, body: body.toString() });
    if (status !== undefined) return void outgoing.writeHead(status).end("{}");
    const { authorization = "" } = headers;
    const answer = await fetch(`${hubUrl}${path}`, {
      ...{ method, headers: { authorization, "content-type": headers["content-type"] ?? "application/json" } },
      ...(body.length > 0 && { body }),
    });
    outgoing.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
    outgoing.end(Buffer.from(await answer.arrayBuffer()));
  });
  return (await listen(server)).url;
}

/** Opens a Hub as {@link launchRealHub}, and closes it after the test. */
export async function openRealHub() {
  const opened = await launchRealHub();
  onTestFinished(() => opened.hub.close());
  return opened;
}

/** Launches a Hub that outlives the sessions and stands for the real one, and returns the options to start them with. */
export async function launchRealHub() {
  const hub = await LocalHub.launch({ attempts: 1, suspendAfter: 1 });
  const client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
  const webhooks = (): Promise<Webhook[]> => client.webhooks.list();
  const urls = async () => (await webhooks()).map(({ url }) => url);
  const port = await freePort();
  const options = {
    ...{ hub: "real", hubUrl: hub.url, token: "hf_local" },
    ...{ port, publicUrl: `http://127.0.0.1:${port}` },
  } satisfies StartDevOptions;
  const push = () => hub.push({ type: "dataset", name: "me/data" });
  return { hub, client, webhooks, urls, options, push };
}
