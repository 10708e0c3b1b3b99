import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { WebhookError } from "../../core/errors.ts";
import type { Commit } from "../git/commit-store.ts";
import type { ContentStore } from "../git/content-store.ts";
import { runCommand } from "../jobs/run-command.ts";

/** The time that an app has until it accepts connections, as on the Hub. */
const startTimeoutMs = 30 * 60_000;
const probeEveryMs = 25;
const drainMs = 5_000;

export type Image = Awaited<ReturnType<typeof buildImage>>;

/** The packages of `modulesFolder` are linked, because nothing is installed. @throws `OPTION_INVALID` if nothing can start. */
export async function buildImage(
  content: ContentStore,
  { tree }: Commit,
  { modulesFolder }: { modulesFolder: string | undefined },
) {
  const dockerfile = content.find(tree, "Dockerfile");
  if (dockerfile?.type !== "file") throw new NoAppFile("There is no Dockerfile.");
  const start = readStartCommand(new TextDecoder().decode(content.read(dockerfile)));
  const folder = await mkdtemp(join(tmpdir(), "hub-webhooks-space-"));
  try {
    for (const file of content.list(tree, { recursive: true })) {
      if (file.type !== "file") continue;
      const path = resolve(folder, file.path);
      // The names come from any client.
      if (!path.startsWith(folder + sep)) continue;
      await mkdir(dirname(path), { recursive: true });
      if (file.lfs) await pipeline(content.openLarge(file.lfs.oid), createWriteStream(path));
      else await writeFile(path, content.read(file));
    }
    const modules = modulesFolder === undefined ? undefined : await stat(modulesFolder).catch(() => undefined);
    if (modulesFolder !== undefined && modules?.isDirectory()) {
      await symlink(modulesFolder, join(folder, "node_modules"), "dir").catch(() => {});
    }
    return { folder, start };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

export class NoAppFile extends Error {}

interface ContainerOptions {
  image: Image;
  environment: Readonly<Record<string, string>>;
  onOutput: (line: string) => void;
}

/** An app that runs as a local process in its image. Its folder is deleted when it stops. */
export class Container {
  readonly port: number;
  /** Resolves with the reason when the process has ended, or with `undefined` after exit code 0. Never rejects. */
  readonly ended: Promise<string | undefined>;
  readonly #stop: AbortController;
  #openRequests = 0;
  #drained = Promise.withResolvers<void>();

  private constructor({ port, ended, stop }: { port: number; ended: Container["ended"]; stop: AbortController }) {
    this.port = port;
    this.ended = ended;
    this.#stop = stop;
  }

  static async start({ image, environment, onOutput }: ContainerOptions): Promise<Container> {
    const port = await findFreePort();
    const stop = new AbortController();
    const { command, environment: own, folder: inside } = image.start;
    const ended = runCommand({
      // Paths of the image are paths of the copy.
      command: command.map((part) =>
        inside !== "/" && part.startsWith(`${inside}/`) ? image.folder + part.slice(inside.length) : part,
      ),
      environment: { ...own, ...environment, HOST: "127.0.0.1", PORT: String(port) },
      folder: image.folder,
      timeoutSeconds: null,
      signal: stop.signal,
      onOutput,
    }).finally(() => rm(image.folder, { recursive: true, force: true }).catch(() => {}));
    return new Container({ port, ended, stop });
  }

  /** Waits until the app accepts connections. Resolves with the reason if it does not. */
  async ready(): Promise<string | undefined> {
    let reason: string | undefined;
    let isOver = false;
    void this.ended.then((why) => {
      isOver = true;
      reason = why ?? "the app ended";
    });
    for (const until = performance.now() + startTimeoutMs; performance.now() < until; ) {
      if (await accepts(this.port)) return undefined;
      if (isOver) return reason;
      await Promise.race([this.ended, delay(probeEveryMs)]);
    }
    return "the app did not listen on its port within 30 minutes";
  }

  /** Counts a request that the app answers, until the returned function is called. */
  addRequest(): () => void {
    this.#openRequests += 1;
    return () => {
      this.#openRequests -= 1;
      if (this.#openRequests === 0) this.#drained.resolve();
    };
  }

  /** Stops the process, and waits until it has ended. `drains`: first waits for its requests, but at most 5 seconds. */
  async stop({ drains }: { drains: boolean }): Promise<void> {
    if (drains && this.#openRequests > 0) {
      this.#drained = Promise.withResolvers();
      await Promise.race([
        this.#drained.promise,
        delay(drainMs, undefined, { signal: this.#stop.signal, ref: false }),
      ]).catch(() => {});
    }
    this.#stop.abort();
    await this.ended;
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Reads the last stage of a Dockerfile. Other instructions would build the image. @throws `OPTION_INVALID` if it starts nothing. */
export function readStartCommand(dockerfile: string) {
  const environment: Record<string, string> = {};
  /** The folder of the image from which the command runs. */
  let folder = "/";
  let entrypoint: readonly string[] = [];
  let command: readonly string[] = [];
  for (const { keyword, rest } of instructionsOf(dockerfile)) {
    const value = expand(rest, environment);
    if (keyword === "FROM") {
      for (const name of Object.keys(environment)) delete environment[name];
      [folder, entrypoint, command] = ["/", [], []];
    }
    if (keyword === "ENV") Object.assign(environment, parseVariables(value));
    if (keyword === "WORKDIR") folder = value.startsWith("/") ? value : `${folder.replace(/\/$/, "")}/${value}`;
    if (keyword === "CMD") command = parseCommand(rest);
    // As in Docker, an ENTRYPOINT drops the CMD of the base image only, which is not known here.
    if (keyword === "ENTRYPOINT") entrypoint = parseCommand(rest);
  }
  if (entrypoint.length + command.length === 0) {
    throw new WebhookError('The Dockerfile starts nothing. Add a line such as CMD ["node", "start.ts"].', {
      code: "OPTION_INVALID",
    });
  }
  return { command: [...entrypoint, ...command], environment, folder };
}

function instructionsOf(dockerfile: string): { keyword: string; rest: string }[] {
  const lines = dockerfile.split(/\r?\n/).filter((line) => !/^\s*#/.test(line));
  return lines
    .join("\n")
    .replace(/\\[ \t]*\n/g, " ")
    .split("\n")
    .flatMap((line) => {
      const [, keyword, rest] = /^\s*(\w+)\s+(.*?)\s*$/.exec(line) ?? [];
      return keyword === undefined || rest === undefined ? [] : [{ keyword: keyword.toUpperCase(), rest }];
    });
}

/** Parses a list of JSON strings. Anything else is a line for a shell. */
function parseCommand(text: string): readonly string[] {
  try {
    const parsed: unknown = JSON.parse(text);
    if (Array.isArray(parsed)) return parsed.map(String);
  } catch {
    // Not JSON.
  }
  return ["/bin/sh", "-c", text];
}

/** Parses `A=1 B="2 3"`, and the old form `A 1`. */
function parseVariables(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/([A-Za-z_]\w*)=("(?:[^"\\]|\\.)*"|'[^']*'|(?:[^\s\\]|\\.)*)/g)];
  if (pairs.length > 0) return Object.fromEntries(pairs.map(([, name = "", value = ""]) => [name, unquote(value)]));
  const [, name, value = ""] = /^([A-Za-z_]\w*)\s+(.*)$/.exec(text) ?? [];
  return name === undefined ? {} : { [name]: value };
}

function unquote(value: string): string {
  if (value.startsWith("'")) return value.slice(1, -1);
  return value.replace(/^"([\s\S]*)"$/, "$1").replace(/\\(.)/g, "$1");
}

/** Inserts the variables that are set so far: `$NAME`, `${NAME}`, and `${NAME:-default}`. */
function expand(text: string, environment: Readonly<Record<string, string>>): string {
  return text.replace(/\$(?:(\w+)|\{(\w+)(?::-([^}]*))?\})/g, (_, short: string, long: string, fallback = "") =>
    String(environment[short ?? long] ?? fallback),
  );
}
