import type { IncomingMessage } from "node:http";
import type * as z from "zod/mini";
import type { Logger } from "../../core/log.ts";
import type { repositoryCreation } from "../../hub/repositories/administration.ts";
import { freeSleepSeconds, type SpaceRuntime } from "../../hub/spaces.ts";
import { accountId } from "../accounts.ts";
import type { RepositoryChange } from "../events/repository-change.ts";
import { Changes } from "../jobs/event-stream.ts";
import type { StoredSpace } from "../store/records.ts";
import { mainRef, type StoredRepository } from "../store/repository-store.ts";
import type { Store } from "../store/store.ts";
import { Space, type SpaceVersion } from "./space.ts";

interface LocalSpacesOptions {
  store: Store;
  hubUrl: string;
  now: () => number;
  log: Logger;
  /** Whether a token can read a repository. `undefined`: no token. */
  canRead: (repository: StoredRepository, token: string | undefined) => boolean;
  /** Whether to run Spaces as local processes. Otherwise, their settings are only stored. */
  runSpaces: boolean;
  modulesFolder: string | undefined;
}

type NewSpace = z.output<typeof repositoryCreation>;

/** The owner of all records of Spaces. Their ID is the ID of the repository, which a move keeps. */
const owner = "";
const defaults: StoredSpace = { secrets: {}, variables: {}, hardware: "cpu-basic", sleepSeconds: null };

/** The Spaces of a local Hub: their settings, and the processes that run them. */
export class LocalSpaces {
  readonly changes = new Changes();
  readonly #options: LocalSpacesOptions;
  readonly #running = new Map<string, Space>();

  constructor(options: LocalSpacesOptions) {
    this.#options = options;
  }

  settings({ id }: StoredRepository): StoredSpace {
    return this.#options.store.spaces.get({ owner, id }) ?? defaults;
  }

  configure({ id }: StoredRepository, { secrets = [], variables = [], hardware, sleepTimeSeconds }: NewSpace): void {
    const updatedAt = this.#options.now();
    const byName = (entries: NonNullable<NewSpace["variables"]>) =>
      Object.fromEntries(entries.map(({ key, ...entry }) => [key, { ...entry, updatedAt }]));
    const record = {
      ...{ secrets: byName(secrets), variables: byName(variables) },
      ...{ hardware: hardware ?? defaults.hardware, sleepSeconds: sleepTimeSeconds ?? null },
    };
    this.#options.store.spaces.put({ owner, id, record });
  }

  /** Changes settings. Variables, secrets, and hardware reach a Space when it restarts, which this starts. */
  change(repository: StoredRepository, settings: Partial<StoredSpace>): void {
    const { store } = this.#options;
    store.spaces.put({ owner, id: repository.id, record: { ...this.settings(repository), ...settings } });
    this.changes.notify(repository.id);
    const space = this.#running.get(repository.id);
    if (space && /RUNNING|STARTING|BUILDING|RUNTIME_ERROR/.test(space.state.stage)) space.restart();
  }

  /** Returns a Space that runs, sleeps, or failed, or `undefined` if the local Hub never started it. */
  find({ id }: StoredRepository): Space | undefined {
    return this.#running.get(id);
  }

  runtime(repository: StoredRepository): SpaceRuntime {
    const { hardware, sleepSeconds } = this.settings(repository);
    const { stage = "STOPPED", message, sha } = this.find(repository)?.state ?? {};
    const isRunning = stage.startsWith("RUNNING");
    const url = this.url(repository);
    return {
      stage,
      ...(message !== undefined && { errorMessage: message }),
      hardware: { current: isRunning ? hardware : null, requested: hardware },
      storage: null,
      gcTimeout: hardware === "cpu-basic" ? freeSleepSeconds : sleepSeconds,
      replicas: { current: isRunning ? 1 : 0, requested: 1 },
      devMode: false,
      domains: url === undefined ? [] : [{ domain: new URL(url).host, stage: "READY" }],
      ...(sha !== undefined && { sha }),
    };
  }

  /** Returns the address of a Space, or `undefined` if the local Hub never started it. */
  url({ id }: StoredRepository): string | undefined {
    const port = this.#running.get(id)?.state.port;
    return port === undefined ? undefined : `http://127.0.0.1:${port}`;
  }

  /** Lets the Spaces that an earlier run of the local Hub has started sleep at their addresses. */
  resume(): void {
    for (const repository of this.#options.store.repositories.all()) {
      if (repository.type === "space" && this.settings(repository).port !== undefined) this.#open(repository)?.resume();
    }
  }

  /** Starts, restarts, or wakes a Space, unless Spaces are only stored. */
  restart(repository: StoredRepository): void {
    this.#open(repository)?.restart();
  }

  pause(repository: StoredRepository): void {
    this.#open(repository)?.pause();
  }

  /** Follows a change to a repository: a push starts the new version of a Space, and a deletion stops it. */
  follow({ before, after, updatedRefs }: RepositoryChange): void {
    if ((after ?? before)?.type !== "space") return;
    if (!after) return void (before && this.#remove(before));
    const isPushed = !before || updatedRefs?.some(({ ref, newSha }) => ref === mainRef && newSha !== null);
    if (isPushed && this.find(after)?.state.stage !== "PAUSED") this.#open(after)?.update();
  }

  async close(): Promise<void> {
    const spaces = [...this.#running.values()];
    this.#running.clear();
    await Promise.all(spaces.map((space) => space.close()));
  }

  #remove({ id }: StoredRepository): void {
    const { store, log } = this.#options;
    store.spaces.delete({ owner, id });
    const space = this.#running.get(id);
    this.#running.delete(id);
    space?.close().catch((error: unknown) => log.error({ err: error }, "A Space could not be stopped."));
  }

  #open(repository: StoredRepository): Space | undefined {
    const { runSpaces, store, now } = this.#options;
    const { id } = repository;
    const existing = this.#running.get(id);
    if (existing || !runSpaces) return existing;
    const current = () => store.repositories.getById(id);
    const space = new Space({
      id,
      version: () => this.#version(current()),
      isAllowed: (request) => this.#isAllowed(current(), request),
      sleepAfterMs: () => {
        const seconds = this.runtime(repository).gcTimeout;
        return seconds === null || seconds < 0 ? undefined : Math.min(seconds * 1_000, 2 ** 31 - 1);
      },
      port: this.settings(repository).port,
      onPort: (port) => store.spaces.put({ owner, id, record: { ...this.settings(repository), port } }),
      changes: this.changes,
      now,
    });
    this.#running.set(id, space);
    return space;
  }

  #version(repository: StoredRepository | undefined): SpaceVersion | { stage: SpaceRuntime["stage"]; message: string } {
    const { store, hubUrl, modulesFolder } = this.#options;
    const commit = repository && store.content.resolve(repository.id, mainRef);
    if (!repository || !commit) return { stage: "NO_APP_FILE", message: "The Space has no files." };
    if ((repository.sdk ?? "docker") !== "docker") {
      return { stage: "CONFIG_ERROR", message: "The local Hub runs only Docker Spaces." };
    }
    const { secrets, variables } = this.settings(repository);
    const valuesOf = (entries: StoredSpace["secrets"]) =>
      Object.fromEntries(Object.entries(entries).map(([name, { value }]) => [name, value]));
    const [author = "", name = ""] = repository.name.split("/");
    return {
      ...{ commit, content: store.content, modulesFolder, secrets: Object.values(valuesOf(secrets)) },
      environment: {
        ...{ HF_ENDPOINT: hubUrl, SPACE_ID: repository.name, SPACE_AUTHOR_NAME: author, SPACE_REPO_NAME: name },
        ...{ SPACE_HOST: new URL(this.url(repository) ?? hubUrl).host, SPACE_CREATOR_USER_ID: accountId(author) },
        ...valuesOf(variables),
        ...valuesOf(secrets),
      },
    };
  }

  /** Whether a request may reach a Space. The Hub answers requests to private Spaces with 404, also its own deliveries. */
  #isAllowed(repository: StoredRepository | undefined, { headers }: IncomingMessage): boolean {
    const [, token] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "") ?? [];
    return repository !== undefined && this.#options.canRead(repository, token);
  }
}
