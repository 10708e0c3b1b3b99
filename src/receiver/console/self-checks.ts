import type { CheckResult } from "../../console/protocol/checks.ts";
import type { EndpointList, RegistrationInfo } from "../../console/protocol/deliveries.ts";
import type { InboxInfo } from "../../console/protocol/inbox.ts";
import type { InboxSource } from "../../console/server/api.ts";
import { readEnvironment, readSpace } from "../../core/environment.ts";
import { HubError, WebhookError } from "../../core/errors.ts";
import { packageVersion } from "../../core/files.ts";
import { loadOnce, withDeadline } from "../../core/time.ts";
import { isOnThisMachine } from "../../core/urls.ts";
import type { HubClient } from "../../hub/client.ts";
import {
  type Check,
  checkAddress,
  checkBudget,
  checkDeliveries,
  checkInbox,
  type Finding,
  type FindingCode,
  inside,
  nameOf,
  type Outcome,
  runChecks,
  type ServerFacts,
} from "../checks/checks.ts";
import { RemoteServer } from "../checks/remote-server.ts";
import { publicUrlOf } from "../context.ts";
import type { ReceiverEndpoints } from "./endpoints.ts";
import type { ConsoleSource } from "./inbox.ts";

/** The time for each request of the server to itself and to the Hub. */
const timeoutMs = 5_000;

interface OwnFacts extends ServerFacts, Pick<ConsoleSource, "server"> {
  publicUrl: string;
  hub: HubClient;
  report: () => Promise<{ session: { version: string }; inbox: InboxInfo; listed: EndpointList } | string>;
}

/** Runs the checks of `doctor` that a server can make of itself, with its own token. */
export async function runSelfChecks(
  source: ConsoleSource,
  { inbox, endpoints }: { inbox: InboxSource; endpoints: ReceiverEndpoints },
): Promise<CheckResult[]> {
  const { server } = source;
  const { secretCheck, ownerCheck } = server;
  const publicUrl = publicUrlOf(server);
  const hub = source.hub.client;
  const facts: OwnFacts = {
    ...{ server, publicUrl, hub, acceptedSecret: undefined },
    url: async () => publicUrl,
    description: async () => ({ endpoints: server.endpoints.all }),
    // With an unusable secret, the test delivery shows that every delivery is refused.
    secret: async () => (secretCheck.problem() ? undefined : secretCheck.first),
    report: loadOnce(async () => {
      try {
        const listed = await endpoints.list({ isFresh: true });
        return { session: { version: packageVersion() }, inbox: await inbox.read(), listed };
      } catch (error) {
        if (!WebhookError.isInstance(error)) throw error;
        return error.message;
      }
    }),
    serverAt: (url) => new RemoteServer({ url, consoleToken: ownerCheck.token, timeoutMs }),
  };
  const valuesOf = async () => ({ hub: hub.hubUrl, space: readSpace()?.id, url: publicUrl || undefined });
  const results: CheckResult[] = [];
  for await (const result of runChecks({ checks, facts, valuesOf }))
    results.push({ ...result, message: source.mask(result.message) });
  return results;
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

/** The codes for a token that is missing or has no access. The Hub answers 404 for what a token cannot read. */
const tokenError = /^HUB_(?:TOKEN_MISSING|TOKEN_INVALID|UNAUTHORIZED|FORBIDDEN|NOT_FOUND)$/;

/** Checks that there is a valid token if an endpoint needs one, and that it reads what endpoints with `catchUp` watch. */
async function checkToken({ hub, server }: OwnFacts): Promise<Outcome> {
  const late = () => new HubError(`The Hub did not answer within ${timeoutMs / 1000} s.`, { code: "HUB_TIMED_OUT" });
  const problemOf = async (call: Promise<unknown>) => {
    try {
      await withDeadline(call, timeoutMs, late);
    } catch (error) {
      if (!HubError.isInstance(error) || !tokenError.test(error.code)) throw error;
      return error.code;
    }
  };
  const code = "SERVER_TOKEN_INVALID";
  const problem = await problemOf(hub.whoami());
  const hasToken = problem !== "HUB_TOKEN_MISSING";
  if (problem !== undefined && hasToken) return [{ code, detail: "The Hub refuses its token." }];
  const found: Finding[] = [];
  for (const { name, paths, ignoreSelf, catchUp, watch } of server.endpoints.all) {
    if (!hasToken && (ignoreSelf || paths.length > 0)) found.push({ code, detail: nameOf(name) });
    for (const { type, name: repo } of catchUp ? watch : []) {
      if (type === "user" || type === "org") continue;
      const reading =
        type === "bucket"
          ? hub.fetch(`/api/buckets/${repo}`).then(({ body }) => body?.cancel())
          : hub.repo({ type, name: repo }).info();
      if ((await problemOf(reading)) === undefined) continue;
      found.push({ code, detail: `${nameOf(name)} It cannot read ${type}:${repo}.` });
    }
  }
  if (found.length > 0) return found;
  return hasToken ? "The Hub accepts it." : "No endpoint needs a token.";
}

const codes: Readonly<Partial<Record<RegistrationInfo["state"], FindingCode>>> = {
  ...{ disabled: "WEBHOOK_DISABLED", suspended: "WEBHOOK_SUSPENDED" },
  ...{ "url-differs": "WEBHOOK_DIFFERS", "secret-differs": "WEBHOOK_SECRET_DIFFERS" },
};

/** Whether each endpoint has an enabled webhook with the secret of the server. */
async function checkWebhooks(facts: OwnFacts): Promise<Outcome> {
  const { hub, server, publicUrl } = facts;
  const report = await facts.report();
  if (typeof report === "string") return { skipped: report };
  if ((server.launchOptions.poll ?? readEnvironment("POLL")) !== undefined)
    return { skipped: "The server polls the Hub, and needs no webhooks." };
  const isLocal = (url: string) => url !== "" && isOnThisMachine(new URL(url).hostname);
  if (isLocal(publicUrl) && !isLocal(hub.hubUrl))
    return { skipped: "The Hub cannot reach this address. If the server has a public one, set PUBLIC_URL." };
  const { endpoints } = report.listed;
  const unknown = endpoints.find(({ registration }) => registration?.state === "unknown");
  if (unknown) return { skipped: `The server cannot list its webhooks. ${unknown.registration?.message}` };
  const found = endpoints.flatMap(({ name, watch, registration }): Finding[] => {
    const state = registration?.state ?? "missing";
    const code = state === "missing" ? (watch.length > 0 ? "WEBHOOK_MISSING" : "ENDPOINT_UNWATCHED") : codes[state];
    const values = { endpoint: name, id: registration?.webhookId };
    return code === undefined ? [] : [{ code, detail: nameOf(name), values }];
  });
  return found.length > 0 ? found : "Each endpoint has an enabled webhook.";
}
