import { HubError } from "../../core/errors.ts";
import { untilAborted } from "../../core/time.ts";
import { accountOperations } from "../account.ts";
import type { KnownRepoRef } from "../schemas.ts";
import type { Transport } from "../transport/transport.ts";
import type { MadeChange, Observation } from "./action-observer.ts";
import { defaultSignature, type Marker } from "./marker.ts";
import type { RepositoryPath } from "./repository-path.ts";

/** The state that all repositories of a client share. */
export class RepositoryClient {
  readonly transport: Transport;
  readonly observation: Observation | undefined;
  /** Runs calls with the same marker one after the other, so that the second call finds the result of the first. */
  readonly markedCalls = new KeyedQueue();
  /** The markers in the descriptions of discussions, by repository and number. `null`: no marker. */
  readonly descriptionMarkers = new Map<string, Marker | null>();
  #accountName: string | undefined;

  constructor(transport: Transport, observation: Observation | undefined) {
    this.transport = transport;
    this.observation = observation;
  }

  /** Returns the name of the token's user. Reads the name once. */
  async accountName(signal: AbortSignal | undefined): Promise<string> {
    this.#accountName ??= (await this.transport.call(accountOperations.whoami, {}, { signal })).name;
    return this.#accountName;
  }
}

/** A repository, and the client that changes it. */
export interface RepositoryContext {
  client: RepositoryClient;
  repo: KnownRepoRef;
  path: RepositoryPath;
}

/** Identifies a repository in keys. */
export function repositoryKey({ repo }: RepositoryContext): string {
  return `${repo.type} ${repo.name}`;
}

/** Returns the marker that this client writes for a purpose. */
export function markerOf({ client }: RepositoryContext, marker: string): Marker & { marker: string } {
  return { signature: client.observation?.signature ?? defaultSignature, marker };
}

/** Returns the marker for a text without a purpose, or `undefined` if the client does not sign its changes. */
export function signatureOf({ client }: RepositoryContext): Marker | undefined {
  return client.observation && { signature: client.observation.signature, marker: undefined };
}

/**
 * Sends a request that changes a repository, with `find` only once like {@link sendOnce}. Reports the request and the changes that
 * were made to the observer.
 */
export async function observe<Answer>(
  { client, repo }: RepositoryContext,
  { made, ...request }: ObservedRequest<Answer>,
): Promise<Answer> {
  const action = client.observation?.observer.begin(repo);
  let changes: readonly MadeChange[] = [];
  try {
    const { send, find } = request;
    const answer = await (find ? sendOnce(client.transport, { ...request, find }) : send());
    changes = made(answer);
    return answer;
  } finally {
    await action?.done(changes);
  }
}

interface ObservedRequest<Answer> extends Omit<OneTimeRequest<Answer>, "find"> {
  find?: OneTimeRequest<Answer>["find"];
  /** Returns the changes that the request made. */
  made: (answer: Answer) => readonly MadeChange[];
}

/** A request that the Hub must not process twice. */
interface OneTimeRequest<Answer> {
  /** Sends the request, without retries after which the Hub could process the request twice. */
  send: () => Promise<Answer>;
  /** Looks for the result of the request on the Hub. Returns `undefined` if the Hub has not processed the request. */
  find: () => Promise<Answer | undefined>;
  signal: AbortSignal | undefined;
}

/**
 * Sends a request. If no answer arrives, looks for the result before the request is sent again, because the Hub may have processed
 * the request.
 *
 * @throws the error of the last attempt.
 */
export async function sendOnce<Answer>(
  transport: Transport,
  { send, find, signal }: OneTimeRequest<Answer>,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      if (!isAnswerLost(error)) throw error;
      const isRepeated = await transport.waitToRepeat(error, { attempt, signal });
      const answer = await find();
      if (answer !== undefined) return answer;
      if (!isRepeated) throw error;
    }
  }
}

function isAnswerLost(error: unknown): error is HubError {
  return HubError.isInstance(error) && ["HUB_TIMED_OUT", "HUB_UNREACHABLE", "HUB_FAILED"].includes(error.code);
}

/** Runs functions with the same key one after the other. Functions with other keys run at the same time. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Runs a function after all earlier functions with this key have ended.
   *
   * @throws the signal's abort reason, if the signal is aborted before. The function starts later, and must check the signal itself.
   */
  async run<Result>(key: string, signal: AbortSignal | undefined, task: () => Promise<Result>): Promise<Result> {
    const earlier = Promise.resolve(this.#last.get(key));
    const current = earlier.then(task);
    const ended = current
      .catch(() => {})
      .then(() => {
        if (this.#last.get(key) === ended) this.#last.delete(key);
      });
    this.#last.set(key, ended);
    if (signal) await untilAborted(earlier, signal);
    return current;
  }
}
