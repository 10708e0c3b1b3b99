import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Commit } from "../git/commit-store.ts";
import type { ContentStore } from "../git/content-store.ts";
import { runCommand } from "../jobs/run-command.ts";
import { readStartCommand, type StartCommand } from "./dockerfile.ts";

/** The time that an app has until it accepts connections, as on the Hub. */
const startTimeoutMs = 30 * 60_000;
const probeEveryMs = 25;
/** The time that requests of a replaced app have to end. */
const drainMs = 5_000;

/** The files of a commit in a folder of their own, and how the app starts. */
export interface Image {
  folder: string;
  start: StartCommand;
}

/**
 * Copies the files of a commit into a new folder. The packages of `modulesFolder` are linked, because nothing is installed.
 *
 * @throws `OPTION_INVALID` if there is no Dockerfile, or if it starts nothing.
 */
export async function buildImage(
  content: ContentStore,
  { tree }: Commit,
  { modulesFolder }: { modulesFolder: string | undefined },
): Promise<Image> {
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
    if (modulesFolder !== undefined) await linkModules(folder, modulesFolder);
    return { folder, start };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** The repository of a Docker Space has no Dockerfile. */
export class NoAppFile extends Error {}

async function linkModules(folder: string, modulesFolder: string): Promise<void> {
  const isFolder = await stat(modulesFolder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) await symlink(modulesFolder, join(folder, "node_modules"), "dir").catch(() => {});
}

interface ContainerOptions {
  image: Image;
  environment: Readonly<Record<string, string>>;
  onOutput: (line: string) => void;
}

/** An app that runs as a local process in its image. Its folder is deleted when it stops. */
export class Container {
  /** The port that the app listens on. */
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
