import { HubError, WebhookError } from "../core/errors.ts";
import { directFetch } from "../core/fetch.ts";
import type { Logger } from "../core/log.ts";
import { type Duration, findUnknownOption, formatWrongOption, toMilliseconds } from "../core/options.ts";
import { accountOperations, type Whoami } from "./account.ts";
import { findHubUrl } from "./hub-url.ts";
import { HubJobs } from "./jobs/jobs.ts";
import { HubNotifications } from "./notifications.ts";
import type { CallOptions } from "./operation.ts";
import { HubOrganizations } from "./organizations/organizations.ts";
import { type Observation, observeActions } from "./repositories/action-observer.ts";
import { HubRepository } from "./repositories/hub-repository.ts";
import { RepositoryClient } from "./repositories/repository-context.ts";
import type { RepoRef } from "./schemas.ts";
import { HubPapers, HubSettings } from "./settings.ts";
import { findToken } from "./token.ts";
import type { HubFetchInit } from "./transport/request.ts";
import { Transport } from "./transport/transport.ts";
import { HubWebhooks } from "./webhooks/webhooks.ts";

/** The options of a {@link HubClient}. */
export interface HubClientOptions {
  /**
   * A Hub access token. By default, the first token found in `HF_TOKEN`, `HUGGING_FACE_HUB_TOKEN`, and the file that
   * `hf auth login` writes (`HF_TOKEN_PATH`, `$HF_HOME/token`, or `~/.cache/huggingface/token`). The client reads the token
   * on the first call.
   */
  token?: string | undefined;
  /**
   * The Hub's base URL. Each call sends the token to this URL, so use `http:` only on your own machine. Default:
   * `HF_ENDPOINT`, or `https://huggingface.co` if `HF_ENDPOINT` is not set.
   */
  hubUrl?: string | undefined;
  /** The function that sends requests. Default: the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** The timeout of one attempt. Default `"30s"`. */
  timeout?: Duration | undefined;
  /**
   * The maximum number of attempts per call, including the first attempt. The client retries after rate limits (429), Hub failures
   * (5xx), and network errors. Calls that must not run twice (create, replay, claim) are retried only if the Hub cannot
   * have processed the call. Default `4`.
   */
  attempts?: number | undefined;
  /**
   * Receives a warning for each field or value of a request that is unknown to this release. Default: `process.emitWarning`, or
   * `console.warn` in runtimes without `process.emitWarning`.
   */
  logger?: Logger | undefined;
}

/**
 * The Hub's REST API.
 *
 * @throws `OPTION_INVALID` if an option is invalid or unknown.
 * @example
 * ```ts
 * const hub = new HubClient();
 * for (const { id, url, disabled } of await hub.webhooks.list()) console.log(id, url, disabled);
 * ```
 */
export class HubClient {
  /** The Hub's base URL, without a trailing slash. */
  readonly hubUrl: string;
  /** Your webhooks. */
  readonly webhooks: HubWebhooks;
  /** Your notifications. */
  readonly notifications: HubNotifications;
  /** Your settings: notifications, watched discussions, and MCP tools. */
  readonly settings: HubSettings;
  /** Papers and their authors. */
  readonly papers: HubPapers;
  /** Jobs: start, list, follow, and cancel jobs. */
  readonly jobs: HubJobs;
  /** Organizations: members, resource groups, network security, and audit log. */
  readonly organizations: HubOrganizations;
  readonly #options: HubClientOptions;
  readonly #transport: Transport;
  readonly #repositories: RepositoryClient;

  constructor(options: HubClientOptions = {}) {
    checkNames(options);
    const { token, timeout = "30s", attempts = 4, logger } = options;
    if (token !== undefined && typeof token !== "string") throw optionInvalid("token", "a string");
    if (!(Number.isSafeInteger(attempts) && attempts >= 1))
      throw optionInvalid("attempts", "a whole number of at least 1");
    const hubUrl = findHubUrl(options.hubUrl);
    const transport = new Transport({
      hubUrl,
      findToken: () => findToken({ option: token, hubUrl }),
      fetch: options.fetch ?? directFetch,
      timeoutMs: readTimeout(timeout),
      attempts,
      logger,
    });
    this.hubUrl = hubUrl;
    this.#options = options;
    this.#transport = transport;
    this.#repositories = new RepositoryClient(transport, observations.get(options));
    this.webhooks = new HubWebhooks(transport);
    this.notifications = new HubNotifications(transport);
    this.settings = new HubSettings(transport);
    this.papers = new HubPapers(transport);
    this.jobs = new HubJobs(transport);
    this.organizations = new HubOrganizations(transport);
  }

  /**
   * Returns the token's user, the user's organizations, and the token's permissions. The Hub has a rate limit for this
   * operation.
   *
   * @example
   * ```ts
   * const { name, orgs } = await hub.whoami();
   * ```
   */
  whoami(options?: CallOptions): Promise<Whoami> {
    return this.#transport.call(accountOperations.whoami, {}, options);
  }

  /**
   * Returns the methods for a model, dataset, or Space: read files, commit, and write in discussions. Sends no request. Pass the
   * `repo` of a payload, or a name and a type.
   *
   * @throws `ARGUMENT_INVALID` if the name is neither `owner/name` nor `name`, or if the type is not `model`, `dataset`, or `space`.
   * @example
   * ```ts
   * const repo = hub.repo({ type: "dataset", name: "acme/data" });
   * const card = await repo.readText("README.md");
   * ```
   */
  repo(repo: RepoRef): HubRepository {
    return new HubRepository(this.#repositories, repo);
  }

  /**
   * Calls an operation for which this client has no method, with the same token, timeout, retries, and errors. `path` starts with
   * one slash and is relative to {@link hubUrl}. Insert names with `params` or `encodeURIComponent`. POST and PATCH requests are
   * retried only if the Hub cannot have processed the request.
   *
   * Resolves with a successful response as soon as the headers arrive. You must read or cancel the body. The timeout and the
   * retries do not apply to the body, but `signal` does.
   *
   * @throws `HubError` with the code `ARGUMENT_INVALID`, `HUB_TOKEN_MISSING`, or `HUB_TOKEN_INVALID` before the request is sent,
   *   and with other `HUB_…` codes after the request was sent. Redirects also fail, because following a redirect would send the
   *   token to another server. If `signal` is aborted, the call rejects with the signal's abort reason.
   * @example
   * ```ts
   * const response = await hub.fetch("/api/datasets/{name}/discussions", {
   *   method: "POST",
   *   params: { name: "me/data" },
   *   body: JSON.stringify({ title: "Hello", description: "My first discussion.", pullRequest: false }),
   * });
   * const { num }: { num: number } = await response.json();
   * ```
   */
  fetch(path: string, init?: HubFetchInit): Promise<Response> {
    return this.#transport.fetch(path, init);
  }

  /** Returns a client with the same options, whose changes are observed and signed. For `WebhooksServer`. */
  [observeActions](observation: Observation): HubClient {
    return createObservedClient(this.#options, observation);
  }
}

/** The observation of clients that {@link createObservedClient} creates, by the options of the client. */
const observations = new WeakMap<HubClientOptions, Observation>();

/** Creates a client whose changes are observed and signed. */
export function createObservedClient(options: HubClientOptions, observation: Observation): HubClient {
  const own = { ...options };
  observations.set(own, observation);
  return new HubClient(own);
}

const optionNames = {
  token: true,
  hubUrl: true,
  fetch: true,
  timeout: true,
  attempts: true,
  logger: true,
} satisfies Record<keyof HubClientOptions, true>;

function checkNames(options: HubClientOptions): void {
  const unknown = findUnknownOption(options, { valid: Object.keys(optionNames), kind: "HubClient" });
  if (unknown) throw new HubError(unknown.message, { code: "OPTION_INVALID", fields: [unknown.option] });
}

function readTimeout(timeout: Duration): number {
  try {
    return toMilliseconds(timeout, "timeout");
  } catch (error) {
    if (!WebhookError.isInstance(error)) throw error;
    throw new HubError(error.message, { code: error.code, fields: ["timeout"] });
  }
}

function optionInvalid(option: string, expected: string): HubError {
  return new HubError(formatWrongOption({ option, expected }), {
    code: "OPTION_INVALID",
    fields: [option],
  });
}
