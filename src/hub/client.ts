import { type Duration, toMilliseconds } from "../core/duration.ts";
import { HubError, WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import { formatWrongOption } from "../core/option-error.ts";
import { accountOperations, type Whoami } from "./account.ts";
import type { HubFetchInit } from "./fetch.ts";
import { HubJobs } from "./jobs.ts";
import { HubNotifications } from "./notifications.ts";
import type { CallOptions } from "./operation.ts";
import { HubOrganizations } from "./organizations/organizations.ts";
import { HubPapers } from "./papers.ts";
import { HubSettings } from "./settings.ts";
import { findEndpoint, findToken } from "./token.ts";
import { Transport } from "./transport.ts";
import { HubWebhooks } from "./webhooks/webhooks.ts";

/** What a {@link HubClient} can be given. */
export interface HubClientOptions {
  /**
   * An access token of the Hub. Default: `HF_TOKEN`, `HUGGING_FACE_HUB_TOKEN`, else the file that `hf auth login`
   * writes (`HF_TOKEN_PATH`, `$HF_HOME/token`, `~/.cache/huggingface/token`). It is looked up at the first call.
   */
  token?: string | undefined;
  /**
   * The Hub's base address, to which every call carries the token: use `http:` on your own machine only. Default:
   * `HF_ENDPOINT`, else `https://huggingface.co`.
   */
  endpoint?: string | undefined;
  /** What to send requests with. Default: the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** How long one attempt of a call may take. Default `"30s"`. */
  timeout?: Duration | undefined;
  /**
   * The maximum number of attempts per call, including the first. The client retries rate limits (429), failures of the
   * Hub (5xx) and network errors. It retries calls that must not run twice (create, replay, claim) only if the Hub cannot
   * have processed them. Default 4.
   */
  attempts?: number | undefined;
  /**
   * Where the client warns of fields and values that it sends although this release does not list them. Default:
   * `process.emitWarning`, and `console.warn` in runtimes without it.
   */
  logger?: Logger | undefined;
}

/**
 * The Hub's REST API.
 *
 * @throws `OPTION_INVALID` when an option cannot be used.
 * @example
 * ```ts
 * const hub = new HubClient();
 * for (const { id, url, disabled } of await hub.webhooks.list()) console.log(id, url, disabled);
 * ```
 */
export class HubClient {
  /** The Hub's base address, without a trailing slash. */
  readonly endpoint: string;
  /** Your webhooks: list, create, change, enable, delete, replay. */
  readonly webhooks: HubWebhooks;
  /** Your notifications. */
  readonly notifications: HubNotifications;
  /** Your settings: what you are notified of, what you watch, your MCP tools. */
  readonly settings: HubSettings;
  /** Papers, and whose they are. */
  readonly papers: HubPapers;
  /** Jobs: the hardware that they can request. */
  readonly jobs: HubJobs;
  /** Organizations: members, resource groups, network security, audit log. */
  readonly organizations: HubOrganizations;
  readonly #transport: Transport;

  constructor(options: HubClientOptions = {}) {
    const { token, timeout = "30s", attempts = 4, logger } = options;
    if (token !== undefined && typeof token !== "string") throw optionInvalid("token", "a text");
    if (!(Number.isSafeInteger(attempts) && attempts >= 1)) throw optionInvalid("attempts", "a whole number from 1 on");
    const endpoint = findEndpoint(options.endpoint);
    const transport = new Transport({
      endpoint,
      findToken: () => findToken({ option: token, endpoint }),
      // The global one is called as such: called as a method of something else, browsers refuse it.
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
      timeoutMs: readTimeout(timeout),
      attempts,
      logger,
    });
    this.endpoint = endpoint;
    this.#transport = transport;
    this.webhooks = new HubWebhooks(transport);
    this.notifications = new HubNotifications(transport);
    this.settings = new HubSettings(transport);
    this.papers = new HubPapers(transport);
    this.jobs = new HubJobs(transport);
    this.organizations = new HubOrganizations(transport);
  }

  /**
   * The user that the token belongs to, the organizations of that user, and what the token allows. The Hub limits how
   * often this is called.
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
   * Calls what this client has no method for, with the token, the time limit, the repetitions and the errors of every
   * other call. `path` begins with one slash and is what stands behind {@link endpoint}: put names into it by
   * `params`, or with `encodeURIComponent`. POST and PATCH are repeated only where they cannot have happened.
   *
   * Resolves with the answer once it begins, and only where it is a success. The body is yours to read or to cancel: its
   * end is bounded by the `signal` alone, and what breaks off in it is not repeated.
   *
   * @throws `HubError`: `ARGUMENT_INVALID`, `HUB_TOKEN_MISSING` and `HUB_TOKEN_INVALID` before anything is sent, the `HUB_…` codes
   * after, a redirection among them: no token is sent elsewhere. The reason of the signal when it is aborted.
   * @example
   * ```ts
   * const response = await hub.fetch("/api/datasets/{name}/discussions", {
   *   method: "POST",
   *   params: { name: "me/data" },
   *   body: JSON.stringify({ title: "Hello", description: "A first word.", pullRequest: false }),
   * });
   * const { num }: { num: number } = await response.json();
   * ```
   */
  fetch(path: string, init?: HubFetchInit): Promise<Response> {
    return this.#transport.fetch(path, init);
  }
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
