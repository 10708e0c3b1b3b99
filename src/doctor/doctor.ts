import * as z from "zod/mini";
import type { CheckResult } from "../console/protocol/checks.ts";
import { type HubError, WebhookError } from "../core/errors.ts";
import { loadOnce } from "../core/time.ts";
import { isOnThisMachine, webhooksPath } from "../core/urls.ts";
import { RemoteSpace, visibilityFor } from "../deploy/remote-space.ts";
import { startSpace, type WaitOptions } from "../deploy/start-space.ts";
import type { HubClient } from "../hub/client.ts";
import { suspendedAfterFailure } from "../hub/webhooks/schemas.ts";
import {
  type Check,
  checkAddress,
  checkBudget,
  checkDeliveries,
  checkInbox,
  type Finding,
  type FindingCode,
  findingKinds,
  inside,
  nameOf,
  noAddress,
  type Outcome,
  runChecks,
  type ServerFacts,
  type ServerReport,
  serverReport,
} from "../receiver/checks/checks.ts";
import { describeAnswer, isConfidential, RemoteServer } from "../receiver/checks/remote-server.ts";
import type { ServerDescription } from "../receiver/control.ts";
import { registerDescription } from "../registration/reconcile.ts";
import { formatStepDetails, type RegistrationReport, type RegistrationStep } from "../registration/report.ts";
import { deleteStaleWebhooks } from "../registration/temporary.ts";
import { validateSecret } from "../registration/webhook.ts";

/**
 * Checks a server and its webhooks, from outside and, with its console token, from inside. Yields each result as soon as it is known. With
 * `confirm`, repairs what can be repaired, and checks it again. Skips a check that needs another one which found a problem.
 *
 * @throws `STATE_UNUSABLE`, `OPTION_INVALID`, and the signal's abort reason. Errors of the Hub and of the server are results.
 */
export function runDoctor(options: DoctorOptions): AsyncGenerator<CheckResult, void> {
  const { client, space, file } = options;
  const localToken = isOnThisMachine(new URL(client.hubUrl).hostname) ? "hf_local" : undefined;
  return runChecks({
    checks: space === undefined ? { ...checks, space: { ...checks.space, needs: [] } } : checks,
    facts: new Facts(options),
    async valuesOf(facts) {
      const url = (await facts.url().catch(() => "")) || undefined;
      return { hub: client.hubUrl, localToken, space, file, url };
    },
    repair: (findings) => repairAll(findings, options),
    renew: (facts) => new Facts(options, facts),
  });
}

export function summarize(results: readonly CheckResult[]): string {
  const count = (wanted: CheckResult["status"]) => results.filter(({ status }) => status === wanted).length;
  const plural = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  const steps = count("next") > 0 ? `, ${plural(count("next"), "next step")}` : "";
  const passed = `${count("ok")} passed, ${count("fixed")} fixed, ${count("skipped")} skipped`;
  return `${passed}${steps}, ${plural(count("problem"), "problem")}`;
}

/** Runs the confirmed repairs, each once. Returns why each failed, or `undefined`, by its question. */
async function repairAll(findings: readonly Finding[], { confirm }: DoctorOptions) {
  const repaired = new Map<string, string | undefined>();
  for (const { question, run } of new Set(findings.flatMap(({ repair }) => repair ?? []))) {
    if (!(await confirm?.(question))) continue;
    repaired.set(question, undefined);
    await run().catch((error: unknown) => {
      if (!WebhookError.isInstance(error)) throw error;
      repaired.set(question, error.message);
    });
  }
  return repaired;
}

export interface DoctorOptions extends WaitOptions {
  client: HubClient;
  /** The name of the Space, such as `me/bot`. */
  space?: string | undefined;
  /** The address of the server without a trailing slash. Default: the address of the Space. */
  url?: string | undefined;
  describe: () => Promise<ServerDescription>;
  file?: string | undefined;
  /** The secret of the deliveries. Default: the secret of the server file. */
  secret?: string | undefined;
  /** The token with which the server reports about itself. */
  consoleToken?: string | undefined;
  state?: string | undefined;
  version: string;
  fetch?: typeof fetch | undefined;
  /** Confirms a repair. Without this function, nothing is changed. */
  confirm?: ((question: string) => Promise<boolean>) | undefined;
}

const checkResults = z.array(z.object({ check: z.string(), status: z.string(), message: z.string() }));

/** What the checks share. Each fact is read once, and again after a repair, with new `Facts`. */
class Facts implements ServerFacts {
  readonly target: DoctorOptions;
  readonly space: RemoteSpace | undefined;
  readonly description: () => Promise<ServerDescription>;
  acceptedSecret: string | undefined;

  constructor(target: DoctorOptions, previous?: Facts) {
    const { client, space, signal, describe } = target;
    this.target = target;
    this.space = space === undefined ? undefined : new RemoteSpace(client, space, { signal });
    this.description = previous?.description ?? loadOnce(describe);
    this.acceptedSecret = previous?.acceptedSecret;
  }

  readonly account = loadOnce(() => this.target.client.whoami({ signal: this.target.signal }));
  readonly spaceInfo = loadOnce(async () => this.space?.info());
  /** The address of the server, or an empty text if the Space has none yet. */
  readonly url = loadOnce(async () => this.target.url ?? (await this.spaceInfo())?.host ?? "");
  readonly secret = async (): Promise<string | undefined> =>
    validateSecret(this.target.secret ?? (await this.description()).secret);
  readonly plan = loadOnce(() => this.sync({ dryRun: true }));

  serverAt(url: string): RemoteServer {
    return new RemoteServer({ ...this.target, url });
  }

  /** The webhooks that deliver to the address, with the endpoints in their URLs. */
  readonly webhooksHere = loadOnce(async () => {
    const start = `${await this.url()}${webhooksPath}`;
    const { client, signal } = this.target;
    return (await client.webhooks.list({ signal })).flatMap(({ id, disabled, url = "" }) => {
      const [path = ""] = url.split(/\/?(?:[?#]|$)/);
      return path.startsWith(start) ? [{ id, disabled, endpoint: path.slice(start.length) }] : [];
    });
  });

  /** Reconciles the webhooks. Changes their secret only to one that the server accepts. */
  async sync({ dryRun }: { dryRun: boolean }): Promise<RegistrationReport> {
    const { client, state, signal } = this.target;
    const options = { publicUrl: await this.url(), state, secret: this.acceptedSecret, adopt: true, dryRun, signal };
    const report = await registerDescription({ endpoints: (await this.description()).endpoints }, client, options);
    const [failure] = report.failed;
    if (failure && !dryRun) throw failure.error;
    return report;
  }

  /** What the server reports about itself, or why it reports nothing. */
  readonly report = loadOnce(async (): Promise<ServerReport | string> => {
    const [url, token] = [await this.url(), this.target.consoleToken];
    if (token === undefined) return "CONSOLE_TOKEN is not known here, so the server reports nothing.";
    if (!isConfidential(url)) return "The address is not an https URL, so CONSOLE_TOKEN is not sent.";
    const server = this.serverAt(url);
    const session = await server.callConsole("session");
    if (session.status !== 200) return `The console of the server ${describeAnswer(session)}.`;
    const [inbox, listed] = [await server.callConsole("inbox"), await server.callConsole("endpoints")];
    const report = { session: session.body, inbox: inbox.body, listed: listed.body };
    return serverReport.safeParse(report).data ?? "The server reports in the format of another version.";
  });
}

/** The checks in their order. Each code belongs to one of them. */
const checks = {
  hub: { title: "Hub", needs: [], run: async ({ account }) => `The token belongs to ${(await account()).name}.` },
  rights: { title: "Rights of the token", needs: ["hub"], run: checkRights },
  space: { title: "Visibility of the Space", needs: ["hub"], run: checkVisibility },
  stage: { title: "Stage of the Space", needs: ["space"], run: checkStage },
  address: { title: "Address", needs: ["stage"], run: checkAddress },
  file: {
    title: "Server file",
    needs: [],
    run: async (facts) => `Endpoints: ${(await facts.description()).endpoints.length}.`,
  },
  delivery: { title: "Test delivery", needs: ["address", "file"], run: checkDeliveries },
  webhooks: { title: "Webhooks", needs: ["hub", "space", "file"], run: checkWebhooks },
  endpoints: { title: "Endpoints", needs: ["hub", "space", "file"], run: checkEndpoints },
  leftovers: { title: "Leftovers of dev", needs: ["hub"], run: checkLeftovers },
  version: { title: "Version", needs: ["address"], run: inside(checkVersion) },
  serverToken: { title: "Token of the server", needs: ["address"], run: checkServerToken },
  inbox: { title: "Inbox", needs: ["address"], run: inside(checkInbox) },
  budget: { title: "Daily limit", needs: ["address"], run: inside(checkBudget) },
} satisfies Readonly<Record<string, Check<Facts>>>;

async function checkRights({ account }: Facts): Promise<Outcome> {
  const { role, fineGrained } = (await account()).auth.accessToken ?? {};
  if (role === "read") return [{ code: "TOKEN_READ_ONLY" }];
  const permissions = fineGrained?.scoped.flatMap((scope) => scope.permissions) ?? ["user.webhooks.write"];
  if (permissions.includes("user.webhooks.write")) return "It can change webhooks.";
  return [{ code: "TOKEN_RIGHTS", detail: "It cannot change webhooks (user.webhooks.write)." }];
}

const noSpace = { skipped: "The server is not on a Space, or --space is not given." };

async function checkVisibility({ space, spaceInfo, account }: Facts): Promise<Outcome> {
  if (!space) return noSpace;
  const info = await spaceInfo();
  if (!info) return [{ code: "SPACE_NOT_FOUND" }];
  if (!info.private) return `The Hub can deliver to ${space.name}.`;
  const visibility = visibilityFor(space.name, await account());
  const warning = visibility === "public" ? " Anyone can then see its code." : "";
  const run = () => space.setVisibility(visibility);
  return [{ code: "SPACE_PRIVATE", repair: { question: `Make ${space.name} ${visibility}?${warning}`, run } }];
}

async function checkStage(facts: Facts): Promise<Outcome> {
  const { space, target } = facts;
  if (!space) return noSpace;
  const { stage, errorMessage } = await space.runtime();
  if (stage.startsWith("RUNNING")) return `${space.name} runs.`;
  const stages: Readonly<Record<string, FindingCode>> = {
    ...{ SLEEPING: "SPACE_ASLEEP", PAUSED: "SPACE_STOPPED", STOPPED: "SPACE_STOPPED" },
    ...{ BUILDING: "SPACE_STARTING", APP_STARTING: "SPACE_STARTING" },
  };
  const code = stages[stage] ?? "SPACE_FAILED";
  const run = async () => {
    for await (const _event of startSpace({ ...target, space, serverAt: (url) => facts.serverAt(url) }));
  };
  const isStartable = code === "SPACE_ASLEEP" || code === "SPACE_STOPPED";
  const repair = isStartable ? { question: `Start the Space ${space.name}?`, run } : undefined;
  // The Space has no other log then.
  const values = { option: stage === "BUILD_ERROR" ? "--build" : undefined };
  return [{ code, detail: errorMessage, values, repair }];
}

async function checkWebhooks(facts: Facts): Promise<Outcome> {
  if ((await facts.url()) === "") return noAddress;
  const [{ steps }, here] = [await facts.plan(), await facts.webhooksHere()];
  const { client } = facts.target;
  // Without the secret of the server, it would refuse the deliveries of a new webhook.
  const isProven = facts.acceptedSecret !== undefined;
  const note = isProven ? "" : " --fix repairs it only after a test delivery with the secret has succeeded.";
  const run = () => facts.sync({ dryRun: false });
  const repair = isProven ? { question: `Reconcile the webhooks of ${await facts.url()}?`, run } : undefined;
  const planned = steps
    .flatMap(findingsOf)
    .map(({ detail, ...finding }): Finding => ({ ...finding, detail: `${detail}${note}`, repair }));
  const others = here.filter(({ id, disabled }) => disabled !== false && !steps.some((step) => step.id === id));
  const enabled = others.map(({ id, disabled, endpoint }): Finding => {
    const code = disabled === suspendedAfterFailure ? "WEBHOOK_SUSPENDED" : "WEBHOOK_DISABLED";
    const repair = { question: `Enable webhook ${id}?`, run: () => client.webhooks.enable(id) };
    return { code, detail: nameOf(endpoint), values: { id }, repair };
  });
  const found = [...planned, ...enabled];
  return found.length > 0 ? found : `Webhooks of this address: ${here.length}. All are enabled.`;
}

function findingsOf(step: RegistrationStep): Finding[] {
  const about = { detail: nameOf(step.endpoint), values: { id: step.id } };
  if (step.action === "update") {
    return step.changes.map((change): Finding => {
      if (change.field === "secret") return { code: "WEBHOOK_SECRET_DIFFERS", ...about };
      const [text] = formatStepDetails({ ...step, isAdopted: false, changes: [change] });
      return { code: "WEBHOOK_DIFFERS", ...about, detail: `${about.detail} ${text}` };
    });
  }
  const codes = { create: "WEBHOOK_MISSING", enable: "WEBHOOK_DISABLED", "re-enable": "WEBHOOK_SUSPENDED" } as const;
  return step.action === "delete" ? [] : [{ code: codes[step.action], ...about }];
}

/** Endpoints without webhooks, and webhooks without endpoints. */
async function checkEndpoints(facts: Facts): Promise<Outcome> {
  if ((await facts.url()) === "") return noAddress;
  const [{ skipped }, { endpoints }] = [await facts.plan(), await facts.description()];
  const here = await facts.webhooksHere();
  const orphans = here.filter(({ endpoint }) => !endpoints.some(({ name }) => name === endpoint));
  const noted = (...reasons: string[]) => skipped.filter(({ reason }) => reasons.includes(reason));
  const removed = noted("endpoint-removed").filter(({ id }) => !orphans.some((orphan) => orphan.id === id));
  const isServed = (endpoint: string) => here.some((webhook) => webhook.endpoint === endpoint);
  const toFindings = (code: FindingCode, about: readonly { endpoint: string; id?: string }[]) =>
    about.map(({ endpoint, id }): Finding => ({ code, detail: nameOf(endpoint), values: { endpoint, id } }));
  const found = [
    ...toFindings("WEBHOOK_ORPHANED", [...orphans, ...removed]),
    ...toFindings("WEBHOOK_DUPLICATE", noted("not-managed", "duplicate")),
    ...toFindings(
      "ENDPOINT_UNWATCHED",
      noted("no-watch").filter(({ endpoint }) => !isServed(endpoint)),
    ),
  ];
  return found.length > 0 ? found : "No endpoint lacks a watch option, and no webhook lacks an endpoint.";
}

async function checkLeftovers({ target: { client, state, signal } }: Facts): Promise<Outcome> {
  const onFailed = ({ error }: { error: HubError }) => {
    throw error;
  };
  const run = () => deleteStaleWebhooks({ client, state, signal, onFailed });
  const repair = { question: "Permanently delete the webhooks that ended sessions of dev left?", run };
  const stale = await deleteStaleWebhooks({ client, state, signal, dryRun: true });
  if (stale.length === 0) return "Sessions of dev left no webhooks.";
  return stale.map(({ id }) => ({ code: "WEBHOOK_LEFTOVER", detail: `Webhook: ${id}.`, repair }));
}

function checkVersion({ session }: ServerReport, { target: { version } }: Facts): Outcome {
  const isOlder = session.version.localeCompare(version, "en", { numeric: true }) < 0;
  const detail = `The server runs ${session.version}.`;
  return isOlder ? [{ code: "VERSION_OLD", detail: `${detail} This is ${version}.` }] : detail;
}

/** Only the server can use its token. */
async function checkServerToken(facts: Facts): Promise<Outcome> {
  const reported = await facts.report();
  if (typeof reported === "string") return { skipped: reported };
  const answer = await facts.serverAt(await facts.url()).callConsole("checks", {});
  const results = checkResults.safeParse(answer.body).data?.filter(({ check }) => check === "serverToken");
  if (!results) return { skipped: `The server ${describeAnswer(answer)}. It may run another version.` };
  if (results.every(({ status }) => status !== "problem")) return results.map(({ message }) => message).join(" ");
  const { cause } = findingKinds.SERVER_TOKEN_INVALID;
  return results.map(({ message }) => ({ code: "SERVER_TOKEN_INVALID", detail: message.replace(cause, "").trim() }));
}
