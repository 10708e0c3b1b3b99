import { randomBytes } from "node:crypto";
import { join, resolve } from "node:path";
import type { CheckResult } from "../console/protocol/checks.ts";
import { HubError } from "../core/errors.ts";
import { packageVersion } from "../core/files.ts";
import { isOnThisMachine } from "../core/urls.ts";
import { runDoctor, summarize } from "../doctor/doctor.ts";
import type { HubClient } from "../hub/client.ts";
import type { CommitResult } from "../hub/repositories/create-commit.ts";
import { describeAnswer, isProof, RemoteServer, type ServerAnswer } from "../receiver/checks/remote-server.ts";
import type { ServerDescription } from "../receiver/control.ts";
import { registerDescription } from "../registration/reconcile.ts";
import { formatStep } from "../registration/report.ts";
import { deployFailed, type EnvironmentFile, openEnvironmentFile, type ProjectFiles, readProject } from "./project.ts";
import { RemoteSpace, readDeployState, rememberDeployment, type SpaceInfo, visibilityFor } from "./remote-space.ts";
import { startSpace, untilAvailable, type WaitOptions, waitForStart } from "./start-space.ts";

/**
 * What a deployment does. `planned`: what it would do. `unchanged`: there was nothing to do. `next`: a step that is left. `progress`:
 * replaces the previous one.
 */
export interface DeployEvent {
  step: "space" | "secrets" | "inbox" | "files" | "build" | "webhooks" | "delivery" | "doctor";
  status: "planned" | "done" | "unchanged" | "warning" | "next" | "log" | "progress";
  message: string;
}

type Steps<Result = void> = AsyncGenerator<DeployEvent, Result>;

export interface DeployOptions extends WaitOptions {
  client: HubClient;
  folder: string;
  /** The Space, as `owner/name`. Default: the one of the last deployment from this folder. */
  space?: string | undefined;
  /** A file whose variables all become secrets of the Space. Default: `.env`, of which only the known names are read. */
  environmentFile?: string | undefined;
  /** Where the inbox is. Default: in a bucket, if an endpoint has `background` and there are S3 credentials. */
  inbox?: "bucket" | "disk" | undefined;
  /** Whether to make the Space public without a question, even if the plan allows a protected one. */
  isPublic?: boolean | undefined;
  dryRun?: boolean | undefined;
  /** Whether the test delivery runs the handlers. */
  runsHandlers?: boolean | undefined;
  /** Whether generated secrets are kept in `.env`. Default: asks. */
  savesSecrets?: boolean | undefined;
  /** Loads the server file. */
  describe: () => Promise<ServerDescription>;
  confirm: (question: string) => Promise<boolean>;
  /** Asks for a value that only a person has. Resolves with `undefined` if the person has no value. */
  askFor: (name: string, why: string) => Promise<string | undefined>;
}

/** The secrets that a bot reads, in the order in which they are set. */
const knownSecrets = [
  "WEBHOOK_SECRET",
  "CONSOLE_TOKEN",
  "HF_TOKEN",
  "INBOX_URL",
  "AWS_ENDPOINT_URL_S3",
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
];

/**
 * Deploys a project to a Space, in steps that each change only what differs: run it again after an edit, an interruption, or a failure.
 * Secrets and variables are set before the files, so that no version runs without them. Ends with a delivery to each endpoint that proves
 * address, secret, and routing.
 *
 * @throws `DEPLOY_FAILED` if a step cannot go on, errors of the Hub, and errors of `describe`.
 */
export async function* deploy(options: DeployOptions): Steps<{ url: string } | undefined> {
  const deployment = await Deployment.open(options);
  return yield* deployment.explaining(async function* () {
    yield* deployment.createSpace();
    const isKnown = yield* deployment.setSecrets();
    yield* deployment.setInbox();
    yield* deployment.upload();
    if (options.dryRun) return void (yield* deployment.planWebhooks());
    const url = yield* deployment.untilReady();
    yield* deployment.untilRestarted(url);
    if (isKnown) yield* deployment.register(url);
    else yield* deployment.rotate(url);
    yield* deployment.prove(url);
    return { url };
  });
}

/**
 * Replaces the secret of the deliveries on the Space and on its webhooks, in the order in which no delivery is refused: the Space accepts
 * both secrets until all webhooks have the new one.
 *
 * @throws like {@link deploy}.
 */
export async function* rotateSecret(options: DeployOptions): Steps<{ url: string }> {
  const deployment = await Deployment.open(options);
  deployment.assertExists();
  return yield* deployment.explaining(async function* () {
    const url = yield* deployment.untilReady();
    yield* deployment.finishRotation(url);
    yield* deployment.rotate(url);
    yield* deployment.prove(url);
    return { url };
  });
}

/** The time within which the Hub starts to restart a Space with another secret. */
const restartTimeoutMs = 60_000;

/** The state file of `sync`. */
const registrationsFile = ".hub-webhooks/registrations.json";

/** Yields the events of a call while it is pending, and returns its result. */
async function* withEvents<Result>(call: (emit: (event: DeployEvent) => void) => Promise<Result>): Steps<Result> {
  const events: DeployEvent[] = [];
  let changed = Promise.withResolvers<void>();
  const result = call((event) => {
    events.push(event);
    changed.resolve();
  });
  let isPending = true;
  const end = () => {
    isPending = false;
    changed.resolve();
  };
  result.then(end, end);
  while (isPending) {
    await changed.promise;
    changed = Promise.withResolvers();
    yield* events.splice(0);
  }
  return result;
}

/** Explains an answer with status 402 to a change of an existing Space. */
function needsPlan(message: string): string {
  const free = message.includes("/api/buckets/")
    ? "Without a plan, add --inbox disk"
    : "Without a plan, choose the hardware cpu-basic without storage in the settings of the Space";
  return `${message} This needs PRO, an organization with Team or Enterprise, or credits. ${free}, and run the command again`;
}

/** One run. The steps share what the earlier ones found. */
class Deployment {
  readonly #options: DeployOptions;
  readonly #isPlan: boolean;
  readonly #file: string;
  readonly #space: RemoteSpace;
  readonly #server: ServerDescription;
  readonly #files: ProjectFiles;
  readonly #environment: EnvironmentFile;
  /** `undefined`: the Space does not exist yet. */
  #info: SpaceInfo | undefined;
  #secret: string | undefined;
  /** The secret that this run has set on the Space. */
  #setSecret: string | undefined;
  /** Values that were generated or asked for in this run. */
  readonly #given = new Map<string, string>();
  /** The file whose secrets the Space has. `undefined`: this folder was not deployed to this Space. */
  #deployedFile: string | undefined;
  /** Whether an earlier rotation was interrupted. */
  #isRotating = false;
  /** The commit that the Space has to run. `undefined`: any. */
  #commit: string | undefined;

  private constructor(
    options: DeployOptions,
    parts: { space: RemoteSpace; server: ServerDescription; files: ProjectFiles; environment: EnvironmentFile },
  ) {
    this.#options = options;
    this.#isPlan = options.dryRun === true;
    this.#file = options.environmentFile ?? ".env";
    this.#space = parts.space;
    this.#server = parts.server;
    this.#files = parts.files;
    this.#environment = parts.environment;
  }

  static async open(options: DeployOptions): Promise<Deployment> {
    const { client, folder, signal } = options;
    const last = await readDeployState(folder);
    const name = options.space ?? last?.space;
    if (name === undefined || !/^[^/]+\/[^/]+$/.test(name)) {
      throw deployFailed('Which Space? Add its name, such as "hub-webhooks deploy me/my-bot"');
    }
    const environmentPath = resolve(folder, options.environmentFile ?? ".env");
    const files = await readProject(folder, environmentPath);
    const environment = await openEnvironmentFile(environmentPath);
    if (options.environmentFile !== undefined && environment.changedAt === 0) {
      throw deployFailed(`There is no file ${environmentPath}. Create it, or correct --env-file`);
    }
    const space = new RemoteSpace(client, name, { signal });
    const deployment = new Deployment(options, { space, server: await options.describe(), files, environment });
    deployment.#info = await space.info();
    deployment.#secret = environment.get("WEBHOOK_SECRET");
    if (last?.space === name) deployment.#deployedFile = last.environmentFile ?? ".env";
    return deployment;
  }

  /** @throws `DEPLOY_FAILED` if the Space does not exist. */
  assertExists(): void {
    const { name } = this.#space;
    if (!this.#info) throw deployFailed(`There is no Space ${name}. Deploy it: npx hub-webhooks deploy ${name}`);
  }

  /** Describes a change, and makes it unless the run only plans. */
  async *#change(step: DeployEvent["step"], message: string, make: () => Promise<unknown>): Steps {
    if (!this.#isPlan) await make();
    yield { step, status: this.#isPlan ? "planned" : "done", message };
  }

  /** Runs steps, and adds to an error of the Hub what it means for a deployment that has started. */
  async *explaining<Result>(steps: () => Steps<Result>): Steps<Result> {
    try {
      return yield* steps();
    } catch (error) {
      const isChanged = HubError.isInstance(error)
        ? error.fields.includes("files")
        : error instanceof DOMException && error.name === "NotReadableError";
      if (isChanged) {
        throw deployFailed("A file of the project changed while it was deployed. Run the command again", error);
      }
      if (!HubError.isInstance(error)) throw error;
      const { status, message, retryable } = error;
      if (status === 404 && this.#info && !(await this.#space.info().catch(() => true))) throw this.#space.gone();
      if (status === 401) {
        throw deployFailed(
          `The Hub no longer accepts the token: it was revoked or has expired. Set HF_TOKEN to a new one from ${this.#options.client.hubUrl}/settings/tokens, and run the command again, which goes on from here`,
          error,
        );
      }
      if (status === 402) throw deployFailed(needsPlan(message), error);
      if (retryable) throw deployFailed(`${message} To go on from here, run the command again`, error);
      throw error;
    }
  }

  async *createSpace(): Steps {
    const { name } = this.#space;
    if (this.#info) await this.#space.current();
    await this.#confirmRemoval();
    const question = `Anyone can see the code of a public Space. Make ${name} public? The Hub cannot deliver to a private one.`;
    if (this.#info && !this.#info.private) {
      yield { step: "space", status: "unchanged", message: `${name} exists` };
    } else {
      const { client, signal, confirm, isPublic = false } = this.#options;
      const isNew = !this.#info;
      const set = async (visibility: "protected" | "public") => {
        if (visibility === "public" && !isPublic && !this.#isPlan && !(await confirm(question))) {
          throw deployFailed(
            `The Space ${name} must be public or protected, because the Hub cannot deliver to a private Space. A protected Space needs PRO, or an organization with Team or Enterprise. To make it public, add --public`,
          );
        }
        const message = isNew ? `create the ${visibility} Docker Space ${name}` : `make ${name} ${visibility}`;
        const change = () => (isNew ? this.#create(visibility) : this.#space.setVisibility(visibility));
        return this.#change("space", message, change);
      };
      const visibility = isPublic ? "public" : visibilityFor(name, await client.whoami({ signal }));
      try {
        yield* await set(visibility);
      } catch (error) {
        if (visibility === "public" || !HubError.isInstance(error) || error.status !== 402) throw error;
        yield { step: "space", status: "warning", message: "the Hub asks for a paid plan for a protected Space" };
        yield* await set("public");
      }
    }
    if (!this.#isPlan) this.#info = await this.#space.current();
  }

  /** Asks before the first change, because the Space can be another one with a similar name. */
  async #confirmRemoval(): Promise<void> {
    if (this.#isPlan || this.#deployedFile !== undefined) return;
    const [first, ...others] = await this.#listRemoved();
    if (first === undefined) return;
    const { name } = this.#space;
    const files =
      others.length === 0 ? first : `${first} and ${others.length} other file${others.length === 1 ? "" : "s"}`;
    const question = `The Space ${name} was not deployed from this folder. Delete ${files} on it, and deploy this project instead?`;
    if (!(await this.#options.confirm(question))) {
      throw deployFailed(`The Space ${name} contains other files. Deploy to a Space with another name`);
    }
  }

  async #listRemoved(): Promise<string[]> {
    const removed: string[] = [];
    if (!this.#info) return removed;
    const { client, signal } = this.#options;
    const repo = client.repo({ type: "space", name: this.#space.name });
    for await (const { path, type } of repo.listFiles({ recursive: true, signal })) {
      if (type === "file" && path !== ".gitattributes" && !this.#files.has(path)) removed.push(path);
    }
    return removed;
  }

  async #create(visibility: "protected" | "public"): Promise<void> {
    await this.#space.create({ visibility }).catch((error: unknown) => {
      if (!HubError.isInstance(error) || error.status !== 402 || visibility === "protected") throw error;
      throw deployFailed(
        "The Hub asks for a paid plan: Docker Spaces need PRO, or an organization with Team or Enterprise. See https://huggingface.co/pricing, or deploy the Dockerfile to another host",
      );
    });
  }

  /** Sets the secrets that are missing or newer here. Returns whether the secret of the deliveries is known here. */
  async *setSecrets(): Steps<boolean> {
    const remote = this.#info ? await this.#space.secrets() : new Map<string, number>();
    yield* this.#generate(["WEBHOOK_SECRET", "CONSOLE_TOKEN"].filter((name) => !remote.has(name)));
    const needsToken = this.#server.endpoints.find(({ ignoreSelf, paths }) => ignoreSelf || paths.length > 0);
    if (needsToken && !remote.has("HF_TOKEN") && !this.#environment.get("HF_TOKEN")) {
      const token = this.#isPlan
        ? "asked for when it is needed"
        : await this.#options.askFor("HF_TOKEN", "with which the handlers call the Hub");
      if (token === undefined) {
        throw deployFailed(
          `Endpoint "${needsToken.name}" has paths or ignoreSelf, which need an access token. Add HF_TOKEN to ${this.#file}, and run the command again`,
        );
      }
      this.#given.set("HF_TOKEN", token);
    }
    this.#isRotating = remote.has("WEBHOOK_SECRET_PREVIOUS");
    const names = (this.#options.environmentFile === undefined ? knownSecrets : this.#environment.names()).filter(
      // The webhooks may still have the old one.
      (name) => !(this.#isRotating && name.startsWith("WEBHOOK_SECRET")),
    );
    let changed = 0;
    for (const name of new Set([...names, ...this.#given.keys()])) {
      const value = this.#given.get(name) ?? this.#environment.get(name);
      if (value === undefined || !(await this.#isDue(name, value, remote.get(name)))) continue;
      changed += 1;
      if (name === "WEBHOOK_SECRET") this.#setSecret = value;
      yield* this.#change("secrets", `set ${name}`, () => this.#space.setSecret(name, value));
    }
    if (changed === 0) yield { step: "secrets", status: "unchanged", message: `${remote.size} secrets are set` };
    const deployed = { space: this.#space.name, environmentFile: this.#file };
    if (!this.#isPlan) await rememberDeployment(this.#options.folder, deployed);
    return this.#secret !== undefined && !this.#isRotating;
  }

  /**
   * Whether to set a secret. The Hub returns no values, and neither values nor hashes of them are kept here. So a secret is set again if
   * the file was changed after the secret was set, or is another one, although its own value may be the same. Only the secret of the
   * deliveries can be compared: the running server accepts it, and no other one.
   */
  async #isDue(name: string, value: string, setAt: number | undefined): Promise<boolean> {
    if (setAt === undefined || this.#given.has(name)) return true;
    const { environmentFile = this.#deployedFile } = this.#options;
    const isOther = this.#deployedFile !== undefined && environmentFile !== this.#deployedFile;
    const isNewer = isOther || setAt < this.#environment.changedAt;
    const url = this.#info?.host;
    if (name !== "WEBHOOK_SECRET" || url === undefined) return isNewer;
    const server = this.#serverAt(url);
    const [first] = this.#server.endpoints;
    // A clock that is behind, or a restored file, hides the change.
    if (!isNewer) return first !== undefined && (await server.probe(first.name, value)).code === "SECRET_INVALID";
    const unknown = randomBytes(32).toString("base64url");
    const probes = this.#server.endpoints.map(async ({ name: endpoint }) => {
      const [own, other] = await Promise.all([server.probe(endpoint, value), server.probe(endpoint, unknown)]);
      return isProof(own) && !isProof(other);
    });
    return !(await Promise.all(probes)).includes(true);
  }

  async *#generate(missing: readonly string[]): Steps {
    const generated = missing.filter((name) => this.#environment.get(name) === undefined);
    for (const name of generated) this.#given.set(name, randomBytes(32).toString("base64url"));
    this.#secret ??= this.#given.get("WEBHOOK_SECRET");
    if (generated.length > 0 && (await this.#wantsToKeep(generated))) yield* this.#save(generated);
  }

  /** Whether to keep generated secrets in `.env`. Otherwise, a later run replaces the secret that it needs. */
  async #wantsToKeep(names: readonly string[]): Promise<boolean> {
    const { savesSecrets, confirm } = this.#options;
    if (this.#isPlan || savesSecrets !== undefined) return !this.#isPlan && savesSecrets === true;
    return confirm(`Generated ${names.join(" and ")}. Keep them in ${this.#file}, which is never uploaded?`);
  }

  #save(names: readonly string[]): Steps {
    return this.#change("secrets", `keep ${names.join(" and ")} in ${this.#file}`, async () => {
      for (const name of names) await this.#environment.set(name, this.#given.get(name) ?? "");
    });
  }

  async *setInbox(): Steps {
    const { inbox, client } = this.#options;
    const isDurable = this.#server.endpoints.some(({ background }) => background);
    const secrets = this.#info ? await this.#space.secrets() : new Map<string, number>();
    const has = (name: string) =>
      secrets.has(name) || this.#environment.get(name) !== undefined || this.#given.has(name);
    const bucket = `${this.#space.name}-inbox`;
    const variables = {
      INBOX_URL: `hf://buckets/${bucket}`,
      ...(isOnThisMachine(new URL(client.hubUrl).hostname) && {
        AWS_ENDPOINT_URL_S3: `${client.hubUrl}/s3/${bucket.split("/")[0]}`,
      }),
    };
    const remote = this.#info ? await this.#space.variables() : new Map<string, string>();
    if (inbox === "disk") {
      for (const [name, value] of Object.entries(variables)) {
        if (remote.get(name) !== value) continue;
        const message = `delete the variable ${name}: deliveries in the bucket stay there, and do not run`;
        yield* this.#change("inbox", message, () => this.#space.deleteVariable(name));
      }
    }
    if (inbox === "disk" || has("INBOX_URL") || !isDurable) return;
    for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]) {
      if (has(name)) continue;
      const why =
        "of the S3 credentials for the inbox, which you generate from a token in https://huggingface.co/settings/tokens";
      const value = this.#isPlan ? undefined : await this.#options.askFor(name, why);
      if (value === undefined) {
        if (inbox === "bucket")
          throw deployFailed(`The inbox in a bucket needs ${name}. Add it to .env, or use --inbox disk`);
        const message = `on the disk of the Space, which each restart erases. To keep deliveries, add ${name} to .env`;
        return void (yield { step: "inbox", status: "warning", message });
      }
      yield* this.#change("secrets", `set ${name}`, () => this.#space.setSecret(name, value));
    }
    const differing = Object.entries(variables).filter(([name, value]) => remote.get(name) !== value);
    if (differing.length === 0)
      return void (yield { step: "inbox", status: "unchanged", message: `in ${variables.INBOX_URL}` });
    yield* this.#change("inbox", `create the private bucket ${bucket}`, () => this.#space.createBucket(bucket));
    for (const [name, value] of differing) {
      yield* this.#change("inbox", `set ${name} to ${value}`, () => this.#space.setVariable(name, value));
    }
  }

  async *upload(): Steps {
    const { client, signal } = this.#options;
    const repo = client.repo({ type: "space", name: this.#space.name });
    const removed = await this.#listRemoved();
    const manifest = (await this.#files.get("package.json")?.text()) ?? "";
    if (/"(?:file|link):/.test(manifest)) {
      const message =
        "package.json has a dependency in a local folder or file, which the build of the Space cannot install";
      yield { step: "files", status: "warning", message };
    }
    const files = Object.fromEntries([...this.#files, ...removed.map((path) => [path, null] as const)]);
    const described = `${this.#files.size} files${removed.length > 0 ? `, ${removed.length} of them deleted` : ""}`;
    if (this.#isPlan) return void (yield { step: "files", status: "planned", message: `compare ${described}` });
    const { created, oid } = yield* withEvents<CommitResult>((emit) => {
      const onUpload = (bytes: number, totalBytes: number) => {
        const [done, total] = [bytes, totalBytes].map((size) => (size / 1e6).toFixed(1));
        emit({ step: "files", status: "progress", message: `uploaded ${done} of ${total} MB of large files` });
      };
      return repo.commit({ message: "Deploy", files, onUpload, signal });
    });
    this.#commit = oid;
    yield created
      ? { step: "files", status: "done", message: `committed as ${oid.slice(0, 7)}` }
      : { step: "files", status: "unchanged", message: described };
  }

  /** Waits until the Space runs the commit and its server is ready. Returns the address. */
  untilReady(): Steps<string> {
    const serverAt = (url: string) => this.#serverAt(url);
    return startSpace({ ...this.#options, space: this.#space, commit: this.#commit, serverAt });
  }

  /**
   * Waits until the server no longer refuses the secret that this run has set. The Hub can report that the Space runs before it restarts
   * the Space with this secret.
   */
  async *untilRestarted(url: string): Steps {
    const secret = this.#setSecret;
    if (secret === undefined) return;
    for await (const _turn of waitForStart(this.#options, restartTimeoutMs)) {
      const answers = await this.#probe(url, secret);
      if (answers.every(isProof)) return;
      const isRefused = answers.some(({ code = "" }) => ["SECRET_INVALID", "TOO_MANY_FAILURES"].includes(code));
      if (!isRefused) return void (yield* this.untilReady());
    }
  }

  #probe(url: string, secret: string): Promise<ServerAnswer[]> {
    const server = this.#serverAt(url);
    return Promise.all(this.#server.endpoints.map(({ name }) => server.probe(name, secret)));
  }

  #serverAt(url: string): RemoteServer {
    return new RemoteServer({ url, consoleToken: this.#consoleToken, signal: this.#options.signal });
  }

  get #consoleToken(): string | undefined {
    return this.#given.get("CONSOLE_TOKEN") ?? this.#environment.get("CONSOLE_TOKEN");
  }

  async *planWebhooks(): Steps {
    const url = this.#info?.host;
    if (url !== undefined) return yield* this.register(url);
    for (const { name, watch } of this.#server.endpoints) {
      if (watch.length > 0) yield { step: "webhooks", status: "planned", message: `create the webhook of ${name}` };
    }
  }

  /** Creates and repairs the webhooks, as `sync`. */
  async *register(url: string): Steps {
    const { client, folder, signal } = this.#options;
    const { steps, done, failed, skipped, unchanged } = await registerDescription(this.#server, client, {
      ...{ publicUrl: url, secret: this.#secret, adopt: true, signal, dryRun: this.#isPlan },
      state: join(folder, registrationsFile),
    });
    for (const step of this.#isPlan ? steps : done) {
      yield { step: "webhooks", status: this.#isPlan ? "planned" : "done", message: formatStep(step) };
    }
    // The doctor at the end finds out whether another webhook delivers to an endpoint without `watch`.
    for (const { reason, message } of skipped)
      if (reason !== "no-watch") yield { step: "webhooks", status: "warning", message };
    const [failure] = failed;
    if (failure)
      throw deployFailed(
        `A webhook of endpoint "${failure.step.endpoint}" could not be changed: ${failure.error.message} To go on from here, run the command again: it creates no webhook twice`,
        failure.error,
      );
    if (done.length === 0 && !this.#isPlan) {
      yield { step: "webhooks", status: "unchanged", message: `registered: ${unchanged.length}` };
    }
  }

  /**
   * Replaces the secret. `WEBHOOK_SECRET_PREVIOUS` is the second secret that a server accepts. An interrupted rotation goes on with the
   * secret that it kept before it changed the first webhook.
   */
  async *rotate(url: string): Steps {
    const secret = (this.#isRotating ? this.#secret : undefined) ?? randomBytes(32).toString("base64url");
    this.#given.set("WEBHOOK_SECRET", secret);
    // Asks before the first change.
    const saves = await this.#wantsToKeep(["WEBHOOK_SECRET"]);
    yield* this.#change("secrets", "accept a new secret beside the old one", async () => {
      await this.#space.setSecret("WEBHOOK_SECRET_PREVIOUS", secret);
      await this.#untilAccepted(url, secret);
    });
    this.#secret = secret;
    if (saves) yield* this.#save(["WEBHOOK_SECRET"]);
    yield* this.register(url);
    yield* this.#change("secrets", "end the old secret", async () => {
      await this.#space.setSecret("WEBHOOK_SECRET", secret);
      await this.#untilAccepted(url, secret);
      await this.#space.deleteSecret("WEBHOOK_SECRET_PREVIOUS");
      await this.#untilAccepted(url, secret);
    });
  }

  /** Ends an interrupted rotation, because the webhooks may have its secret already. */
  async *finishRotation(url: string): Steps {
    this.#isRotating = (await this.#space.secrets()).has("WEBHOOK_SECRET_PREVIOUS");
    if (this.#isRotating) yield* this.rotate(url);
    this.#isRotating = false;
  }

  /** Waits until the Space, which restarts with a changed secret, accepts it. */
  async #untilAccepted(url: string, secret: string): Promise<void> {
    for await (const _turn of waitForStart(this.#options)) {
      const runtime = await untilAvailable(() => this.#space.runtime());
      if (runtime?.stage !== "RUNNING" && runtime?.stage !== "SLEEPING") continue;
      if ((await this.#probe(url, secret)).every(isProof)) return;
    }
    throw deployFailed("The Space did not accept the new secret within 20 minutes. Run the command again");
  }

  /** Runs the checks of `doctor`, of which one proves that deliveries arrive. */
  async *prove(url: string): Steps {
    const { runsHandlers = false, folder } = this.#options;
    const server = this.#serverAt(url);
    for (const endpoint of runsHandlers ? this.#server.endpoints : []) {
      const answer = await server.sample(endpoint, this.#secret ?? "");
      if (answer.status < 200 || answer.status >= 300)
        throw deployFailed(`The test delivery to ${url}/webhooks/${endpoint.name} ${describeAnswer(answer)}`);
      yield { step: "delivery", status: "done", message: `${endpoint.name}: ran the handler` };
    }
    const results: CheckResult[] = [];
    let problem: string | undefined;
    for await (const result of runDoctor({
      ...{ ...this.#options, url, space: this.#space.name, describe: async () => this.#server, secret: this.#secret },
      ...{ consoleToken: this.#consoleToken, state: join(folder, registrationsFile), version: packageVersion() },
      confirm: undefined,
    })) {
      results.push(result);
      const { check, status, code, message, command } = result;
      const text = code === undefined ? message : `${code}: ${message} ${command}`;
      // A delivery that is skipped has its cause in an earlier result.
      if (check === "delivery" && status !== "ok") throw deployFailed(`The test delivery failed. ${problem ?? text}`);
      if (check === "delivery" && !runsHandlers) yield { step: "delivery", status: "done", message };
      if (status === "problem") {
        problem = text;
        yield { step: "doctor", status: "warning", message: text };
      }
      if (status === "next") yield { step: "doctor", status, message: text };
    }
    const isHealthy = results.every(({ status }) => status !== "problem");
    yield { step: "doctor", status: isHealthy ? "done" : "warning", message: summarize(results) };
  }
}
