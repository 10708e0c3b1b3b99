import { inspect } from "node:util";
import { type LaunchOptions, WebhooksServer, type WebhooksServerOptions } from "../../src/index.ts";
import { createMemoryLogger, type LogLine } from "../support/memory-logger.ts";
import { type DeclarationName, declarations } from "./declared-endpoints.ts";

/*
 * Runs receivers for the tests of the parent process, which sends requests as messages and receives all log lines and
 * deliveries.
 */

/** Receiver options that can be sent to another process. */
export interface HostedOptions
  extends Omit<WebhooksServerOptions, "logger" | "now" | "createId" | "landingPage" | "inbox"> {
  timeouts?: LaunchOptions["timeouts"];
  declared?: DeclarationName;
  environment: Readonly<Record<string, string | undefined>>;
}

/** A request to the host process. */
export type HostRequest = { number: number; receiver: number } & (
  | { ask: "open"; options: HostedOptions }
  | { ask: "stored"; id: string }
  | { ask: "close" }
  | { ask: "sync" }
);

const servers = new Map<number, WebhooksServer>();

/** Forwards each log line to the parent process. Lines that cannot be serialized are sent as text. */
function toldLines(receiver: number): LogLine[] {
  const lines: LogLine[] = [];
  lines.push = (...added) => {
    for (const line of added) {
      try {
        process.send?.({ receiver, line });
      } catch {
        const { level, msg } = line;
        process.send?.({ receiver, line: { level, msg, fields: inspect(line, { depth: 6 }) } });
      }
    }
    return 0;
  };
  return lines;
}

async function open(receiver: number, options: HostedOptions): Promise<{ url: string }> {
  const { timeouts, declared, environment, ...serverOptions } = options;
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  const server = new WebhooksServer({ ...serverOptions, logger: createMemoryLogger(toldLines(receiver)) });
  server.webhook("target", (_payload, { delivery }) => {
    process.send?.({ receiver, delivery });
    return { received: delivery.id };
  });
  if (declared) declarations[declared](server);
  const { url } = await server.launch({
    port: 0,
    host: "127.0.0.1",
    handleSignals: false,
    ...(timeouts && { timeouts }),
  });
  servers.set(receiver, server);
  return { url };
}

async function perform(request: HostRequest): Promise<unknown> {
  if (request.ask === "open") return open(request.receiver, request.options);
  const server = servers.get(request.receiver);
  if (request.ask === "stored") return server?.inbox.get(request.id);
  if (request.ask === "close") await server?.close();
  return undefined;
}

process.on("message", (request: HostRequest) => {
  perform(request).then(
    (answer) => process.send?.({ number: request.number, answer }),
    (error: unknown) => process.send?.({ number: request.number, error: inspect(error) }),
  );
});
process.on("disconnect", () => process.exit(0));
