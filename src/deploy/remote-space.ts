import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod/mini";
import { HubError } from "../core/errors.ts";
import { makePrivateFolder } from "../core/files.ts";
import type { Whoami } from "../hub/account.ts";
import type { HubClient } from "../hub/client.ts";
import { deployFailed, throwUnusable } from "./project.ts";

// The Hub documents none of these answers, and leaves out fields in some stages. Another form of a field counts as missing.
const text = z.catch(z.optional(z.string()), undefined);
const info = z.object({ id: text, private: z.boolean(), host: text });
const runtime = z.looseObject({
  stage: z.string(),
  /** Why the Space does not run. */
  errorMessage: text,
  /** The commit that runs. */
  sha: text,
  hardware: z.catch(z.optional(z.object({ current: text, requested: text })), undefined),
});
const secrets = z.record(z.string(), z.object({ updatedAt: text }));
const variables = z.record(z.string(), z.object({ value: z.string() }));
/** The number of lines that are recognized when a log is opened again. */
const maxSeen = 20_000;
const eventData = z.object({ data: z.string() });

export type SpaceInfo = z.output<typeof info>;

const secretsPath = "/api/spaces/{name}/secrets";
const variablesPath = "/api/spaces/{name}/variables";

export class RemoteSpace {
  readonly name: string;
  readonly #client: HubClient;
  readonly #signal: AbortSignal | undefined;

  constructor(client: HubClient, name: string, { signal }: { signal: AbortSignal | undefined }) {
    this.#client = client;
    this.name = name;
    this.#signal = signal;
  }

  /** Returns the Space, or `undefined` if it does not exist. */
  async info(): Promise<SpaceInfo | undefined> {
    try {
      return await this.#read(info, "/api/spaces/{name}");
    } catch (error) {
      if (HubError.isInstance(error) && error.status === 404) return undefined;
      throw error;
    }
  }

  /** @throws `DEPLOY_FAILED` if the Space has another name now, or does not exist any more. */
  async current(): Promise<SpaceInfo> {
    const found = await this.info();
    if (!found) throw this.gone();
    if (found.id === undefined || found.id === this.name) return found;
    throw deployFailed(
      `The Space ${this.name} is now ${found.id}. Deploy it with: npx hub-webhooks deploy ${found.id}`,
    );
  }

  gone(): Error {
    return deployFailed(
      `The Space ${this.name} does not exist any more, or the token cannot read it. It was renamed or deleted during the deployment. To create it again, run the command again`,
    );
  }

  create(settings: object): Promise<unknown> {
    const [organization, name] = this.name.split("/");
    const body = { name, organization, type: "space", sdk: "docker", ...settings };
    return this.#json("POST", "/api/repos/create", body).catch(ignoreExisting);
  }

  async setVisibility(visibility: "public" | "protected"): Promise<void> {
    await this.#client.repo({ type: "space", name: this.name }).setVisibility(visibility, { signal: this.#signal });
  }

  /** Returns when each secret was set, by name. Milliseconds since the epoch. */
  async secrets(): Promise<ReadonlyMap<string, number>> {
    const found = await this.#read(secrets, secretsPath);
    return new Map(Object.entries(found).map(([key, { updatedAt }]) => [key, Date.parse(updatedAt ?? "") || 0]));
  }

  async variables(): Promise<ReadonlyMap<string, string>> {
    const found = await this.#read(variables, variablesPath);
    return new Map(Object.entries(found).map(([key, { value }]) => [key, value]));
  }

  readonly createBucket = (name: string) =>
    this.#json("POST", `/api/buckets/${name}`, { private: true }).catch(ignoreExisting);
  readonly setSecret = (key: string, value: string) => this.#json("POST", secretsPath, { key, value });
  readonly deleteSecret = (key: string) => this.#json("DELETE", secretsPath, { key });
  readonly setVariable = (key: string, value: string) => this.#json("POST", variablesPath, { key, value });
  readonly deleteVariable = (key: string) => this.#json("DELETE", variablesPath, { key });
  readonly runtime = () => this.#read(runtime, "/api/spaces/{name}/runtime");
  readonly restart = () => this.#json("POST", "/api/spaces/{name}/restart");

  /** Yields the lines of a log. If the stream breaks off, opens it again while the Space still builds or runs. */
  async *follow(
    kind: "build" | "run",
    { signal, pollMs = 1_000 }: { signal: AbortSignal; pollMs?: number | undefined },
  ): AsyncGenerator<string, void> {
    // At most `maxSeen` lines, because a run log can be followed for days.
    const seen: string[] = [];
    for (; ; await delay(pollMs, undefined, { signal })) {
      // A stream starts with the lines that it had before, unless the log is another one.
      let repeated = 0;
      try {
        for await (const line of await this.logs(kind, { signal })) {
          const isRepeated = repeated < seen.length && line === seen[repeated];
          repeated = isRepeated ? repeated + 1 : Number.POSITIVE_INFINITY;
          if (isRepeated) continue;
          if (seen.length < maxSeen) seen.push(line);
          yield line;
        }
      } catch (error) {
        signal.throwIfAborted();
        if (HubError.isInstance(error) && !error.retryable) throw error;
      }
      const { stage } = await this.runtime();
      if (!(kind === "build" ? stage.endsWith("BUILDING") : stage.startsWith("RUNNING"))) return;
    }
  }

  /** Opens a log. Yields its lines until `signal` is aborted or the Hub ends the stream. */
  async logs(kind: "build" | "run", { signal }: { signal: AbortSignal }): Promise<AsyncGenerator<string, void>> {
    const params = { name: this.name };
    return linesOf(await this.#client.fetch(`/api/spaces/{name}/logs/${kind}`, { params, signal }));
  }

  async #read<Answer>(schema: z.ZodMiniType<Answer>, path: string): Promise<Answer> {
    const answer = z.safeParse(schema, await this.#json("GET", path));
    if (answer.success) return answer.data;
    const message = `The Hub returned an unexpected response to GET ${this.#placeOf(path)}. Check HF_ENDPOINT, or update hub-webhooks.`;
    throw new HubError(message, { code: "HUB_RESPONSE_INVALID", cause: answer.error });
  }

  #placeOf(path: string): string {
    return path.replace("{name}", this.name);
  }

  async #json(method: "GET" | "POST" | "DELETE", path: string, body?: object): Promise<unknown> {
    const response = await this.#client.fetch(path, {
      method,
      ...(path.includes("{name}") && { params: { name: this.name } }),
      ...(body && { body: JSON.stringify(body) }),
      // Each call sets a state, or creates what has a name.
      ...{ idempotent: true, signal: this.#signal },
    });
    const text = await response.text().catch((cause: unknown) => {
      this.#signal?.throwIfAborted();
      const message = `The Hub broke off its response to ${method} ${this.#placeOf(path)}.`;
      throw new HubError(message, { code: "HUB_UNREACHABLE", retryable: true, cause });
    });
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }
}

/** An earlier run was interrupted before it received the response. */
function ignoreExisting(error: unknown): void {
  if (!HubError.isInstance(error) || error.status !== 409) throw error;
}

/** Returns the visibility that the plan of the owner allows. The page of a protected Space is public, but not its code. */
export function visibilityFor(space: string, user: Whoami): "protected" | "public" {
  const [owner] = space.split("/");
  const canProtect =
    owner === user.name ? user.isPro : user.orgs.some(({ name, plan }) => name === owner && plan !== undefined);
  return canProtect ? "protected" : "public";
}

/** Names only: no secret is stored here. `environmentFile`: the file whose secrets the Space has. */
const state = z.object({ space: z.string(), environmentFile: z.optional(z.string()) });
type DeployState = z.output<typeof state>;
const stateFile = ".hub-webhooks/deploy.json";

export async function readDeployState(folder: string): Promise<DeployState | undefined> {
  const text = readFile(join(folder, stateFile), "utf8");
  const value: unknown = await text.then(JSON.parse).catch(() => undefined);
  return z.safeParse(state, value).data;
}

export async function findDeployedSpace(folder: string): Promise<string | undefined> {
  return (await readDeployState(folder))?.space;
}

export async function rememberDeployment(folder: string, deployed: DeployState): Promise<void> {
  const path = join(folder, stateFile);
  makePrivateFolder(dirname(path), "DEPLOY_FAILED");
  await writeFile(path, `${JSON.stringify(deployed)}\n`, { mode: 0o600 }).catch(throwUnusable);
}

async function* linesOf(response: Response): AsyncGenerator<string, void> {
  let rest = "";
  try {
    for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith("data: {")) yield eventData.parse(JSON.parse(line.slice("data: ".length))).data.trimEnd();
      }
    }
  } catch (cause) {
    const message = "The Hub broke off the log. Run the command again, with --follow to open the log again by itself.";
    throw new HubError(message, { code: "HUB_UNREACHABLE", retryable: true, cause });
  }
}
