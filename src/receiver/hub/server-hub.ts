import { readEnvironment } from "../../core/environment.ts";
import type { Logger } from "../../core/logger.ts";
import { optionError } from "../../core/option-error.ts";
import type { Whoami } from "../../hub/account.ts";
import type { HubClient, HubClientOptions } from "../../hub/client.ts";
import { findHubUrl } from "../../hub/hub-url.ts";
import { type ActionObserver, observeActions } from "../../hub/repositories/action-observer.ts";
import { createDeferredClient } from "./deferred-client.ts";

/**
 * The `hub` option of a server: the options of a client, or a client. The type of a client contains only the method that the server
 * calls, so that TypeScript infers the parameters of a `fetch` function in the options.
 */
export type HubOption = HubClientOptions | Pick<HubClient, typeof observeActions>;

interface ServerHubOptions {
  /** The `hub` option of the server. */
  hub: HubOption | undefined;
  /** The `hubSignature` option of the server. */
  signature: string | undefined;
  observer: ActionObserver;
  log: Logger;
}

const maxSignatureChars = 200;

/** The Hub client of a server, which is loaded when it is first used. */
export class ServerHub {
  /** The name of this server in its markers. */
  readonly signature: string;
  readonly #options: ServerHubOptions;
  #client: HubClient | undefined;
  #loading: Promise<HubClient> | undefined;
  #account: Promise<Whoami> | undefined;

  /** @throws `OPTION_INVALID` if the signature is invalid. */
  constructor(options: ServerHubOptions) {
    this.#options = options;
    this.signature = checkSignature(options.signature) ?? readEnvironment("SPACE_ID") ?? "server";
  }

  /** The client. Before the client is loaded, a client that loads it when one of its methods is called. */
  get client(): HubClient {
    this.#client ??= this.#create();
    return this.#client;
  }

  /** Returns the account of the token. Requests it only once. */
  async account(signal: AbortSignal): Promise<Whoami> {
    this.#account ??= this.client.whoami({ signal }).catch((error) => {
      this.#account = undefined;
      throw error;
    });
    return this.#account;
  }

  #create(): HubClient {
    const { hub, observer } = this.#options;
    if (isClient(hub)) return hub[observeActions]({ observer, signature: this.signature });
    return createDeferredClient({ load: () => this.#load(hub), hubUrl: () => findHubUrl(hub?.hubUrl) });
  }

  #load(options: HubClientOptions | undefined): Promise<HubClient> {
    this.#loading ??= this.#loadOnce(options).catch((error) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async #loadOnce(options: HubClientOptions | undefined): Promise<HubClient> {
    const { observer, log } = this.#options;
    const { createObservedClient } = await import("./hub-client.ts");
    this.#client = createObservedClient({ logger: log, ...options }, { observer, signature: this.signature });
    return this.#client;
  }
}

function isClient(hub: HubOption | undefined): hub is Pick<HubClient, typeof observeActions> {
  return hub !== undefined && observeActions in hub;
}

function checkSignature(signature: string | undefined): string | undefined {
  if (signature === undefined) return undefined;
  if (typeof signature === "string" && signature !== "" && signature.length <= maxSignatureChars) {
    if (signature.isWellFormed()) return signature;
  }
  throw optionError({
    option: "hubSignature",
    value: signature,
    expected: `a text of 1 to ${maxSignatureChars} characters`,
  });
}
