import type { CheckReport, CheckResult } from "../../console/protocol/checks.ts";
import type { EndpointInfo, RegistrationInfo } from "../../console/protocol/deliveries.ts";
import { readEnvironment, readSpace } from "../../core/environment.ts";
import { HubError, WebhookError } from "../../core/errors.ts";
import { packageVersion } from "../../core/files.ts";
import { loadOnce } from "../../core/time.ts";
import { isOnThisMachine } from "../../core/urls.ts";
import {
  type Check,
  checkAddress,
  checkBudget,
  checkDeliveries,
  checkInbox,
  inside,
  nameOf,
  type Outcome,
  runChecks,
  type ServerFacts,
} from "../checks/checks.ts";
import type { Finding, FindingCode } from "../checks/findings.ts";
import { RemoteServer } from "../checks/remote-server.ts";
import type { ReceiverEndpoints } from "./endpoints.ts";
import type { ReceiverInbox } from "./inbox.ts";
import type { ConsoleSource } from "./source.ts";

/** The time for each request of the server to itself and to the Hub. */
const timeoutMs = 5_000;

interface SelfCheckParts {
  inbox: ReceiverInbox;
  endpoints: ReceiverEndpoints;
}

/** Runs the checks of `doctor` that a server can make of itself, with its own token: all of them, or one by its name. */
export async function runSelfChecks(
  source: ConsoleSource,
  parts: SelfCheckParts,
  check: string | undefined,
): Promise<CheckReport> {
  const facts = new OwnFacts(source, parts);
  const chosen = Object.entries(checks).filter(([name]) => check === undefined || name === check);
  const valuesOf = async () => ({ hub: facts.hub.hubUrl, space: readSpace()?.id, url: source.publicUrl || undefined });
  const results: CheckResult[] = [];
  for await (const result of runChecks({ checks: Object.fromEntries(chosen), facts, valuesOf })) {
    results.push({ ...result, message: source.mask(result.message) });
  }
  return { results };
}

/** What the checks read inside the server. */
class OwnFacts implements ServerFacts {
  readonly source: ConsoleSource;
  readonly #parts: SelfCheckParts;
  acceptedSecret: string | undefined;

  constructor(source: ConsoleSource, parts: SelfCheckParts) {
    this.source = source;
    this.#parts = parts;
  }

  get hub() {
    return this.source.hub.client;
  }

  readonly url = async () => this.source.publicUrl;
  readonly endpointNames = async () => this.source.server.endpoints.names;
  readonly secret = async () => {
    const { secretCheck } = this.source.server;
    // With an unusable secret, the test delivery shows that every delivery is refused.
    return secretCheck.problem() ? undefined : secretCheck.first;
  };

  readonly report = loadOnce(async () => {
    const { inbox, endpoints } = this.#parts;
    try {
      const listed = await endpoints.list({ isFresh: true });
      return { session: { version: packageVersion() }, inbox: await inbox.read(), listed };
    } catch (error) {
      if (!WebhookError.isInstance(error)) throw error;
      return error.message;
    }
  });

  serverAt(url: string): RemoteServer {
    return new RemoteServer({ url, consoleToken: this.source.server.ownerCheck.token, timeoutMs });
  }
}

const checks: Readonly<Record<string, Check<OwnFacts>>> = {
  address: { title: "Address", needs: [], run: checkAddress },
  delivery: { title: "Test delivery", needs: ["address"], run: checkDeliveries },
  serverToken: { title: "Token of the server", needs: [], run: checkToken },
  webhooks: { title: "Webhooks", needs: ["serverToken"], run: checkWebhooks },
  inbox: { title: "Inbox", needs: [], run: inside(checkInbox) },
  budget: { title: "Daily limit", needs: [], run: inside(checkBudget) },
  version: { title: "Version", needs: [], run: inside(({ session }) => `The server runs ${session.version}.`) },
};

/** The errors of a token that is missing or has no access. The Hub answers 404 for what a token cannot read. */
const tokenErrors = ["HUB_TOKEN_MISSING", "HUB_TOKEN_INVALID", "HUB_UNAUTHORIZED", "HUB_FORBIDDEN", "HUB_NOT_FOUND"];

/** Checks that there is a valid token if an endpoint needs one, and that it reads what endpoints with `catchUp` watch. */
async function checkToken({ hub, source }: OwnFacts): Promise<Outcome> {
  const problemOf = async (call: (options: { signal: AbortSignal }) => Promise<unknown>) => {
    try {
      await call({ signal: AbortSignal.timeout(timeoutMs) });
    } catch (error) {
      if (!HubError.isInstance(error) || !tokenErrors.includes(error.code)) throw error;
      return error.code;
    }
  };
  const code = "SERVER_TOKEN_INVALID";
  const problem = await problemOf((options) => hub.whoami(options));
  const hasToken = problem !== "HUB_TOKEN_MISSING";
  if (problem !== undefined && hasToken) return [{ code, detail: "The Hub refuses its token." }];
  const found: Finding[] = [];
  for (const { name, paths, ignoreSelf, catchUp, watch } of source.server.endpoints.all) {
    if (!hasToken && (ignoreSelf || paths.length > 0)) found.push({ code, detail: nameOf(name) });
    for (const { type, name: repo } of catchUp ? watch : []) {
      if (type === "user" || type === "org") continue;
      if ((await problemOf((options) => hub.repo({ type, name: repo }).info(options))) === undefined) continue;
      found.push({ code, detail: `${nameOf(name)} It cannot read ${type}:${repo}.` });
    }
  }
  if (found.length > 0) return found;
  return hasToken ? "The Hub accepts it." : "There is none, and no endpoint needs one.";
}

const codes: Readonly<Partial<Record<RegistrationInfo["state"], FindingCode>>> = {
  ...{ disabled: "WEBHOOK_DISABLED", suspended: "WEBHOOK_SUSPENDED" },
  ...{ "url-differs": "WEBHOOK_DIFFERS", "secret-differs": "WEBHOOK_SECRET_DIFFERS" },
};

/** Whether each endpoint has an enabled webhook with the secret of the server. */
async function checkWebhooks(facts: OwnFacts): Promise<Outcome> {
  const { hub, source } = facts;
  const report = await facts.report();
  if (typeof report === "string") return { skipped: report };
  if ((source.server.launchOptions.poll ?? readEnvironment("POLL")) !== undefined)
    return { skipped: "The server polls the Hub, and needs no webhooks." };
  const isLocal = (url: string) => url !== "" && isOnThisMachine(new URL(url).hostname);
  if (isLocal(source.publicUrl) && !isLocal(hub.hubUrl))
    return { skipped: "The Hub cannot reach this address. If the server has a public one, set PUBLIC_URL." };
  const { endpoints } = report.listed;
  const unknown = endpoints.find(({ registration }) => registration?.state === "unknown");
  if (unknown) return { skipped: `The server cannot list its webhooks. ${unknown.registration?.message}` };
  const found = endpoints.flatMap(({ name, watch, registration }: EndpointInfo): Finding[] => {
    const state = registration?.state ?? "missing";
    const code = state === "missing" ? (watch.length > 0 ? "WEBHOOK_MISSING" : "ENDPOINT_UNWATCHED") : codes[state];
    const values = { endpoint: name, id: registration?.webhookId };
    return code === undefined ? [] : [{ code, detail: nameOf(name), values }];
  });
  return found.length > 0 ? found : "Each endpoint has an enabled webhook.";
}
