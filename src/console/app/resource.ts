import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ConsoleFeature, DevInfo } from "../protocol/session.ts";
import { type ApiFailure, getJson, type Query, subscribe, toApiFailure } from "./api.ts";

/** A resource of the API, as a view shows it. */
export interface Resource<Answer> {
  /** The latest answer. It stays while a newer one loads, but not when path or query change. */
  data: Answer | undefined;
  failure: ApiFailure | undefined;
  reload: () => void;
}

/** What a resource contains, and when it is loaded again. */
interface ResourceOptions {
  query?: Query | undefined;
  /** The features whose changes concern the resource. */
  features?: readonly ConsoleFeature[];
  /** Also load again after this time. */
  refreshMs?: number | undefined;
  /** Whether a delivery that was reported concerns the resource. */
  isChanged?: (key: { endpoint: string; id: string }) => boolean;
}

/** How long a failed request waits before it is tried again. */
const retryMs = 5_000;

/**
 * Loads a resource of the API, and loads it again when the stream reports a change of one of `features` and after a
 * reconnect.
 *
 * @example
 * ```tsx
 * const { data, failure } = useResource<EndpointList>("endpoints", { features: ["endpoints"] });
 * ```
 */
export function useResource<Answer>(
  path: string,
  { query, features = [], refreshMs, isChanged }: ResourceOptions = {},
): Resource<Answer> {
  const address = JSON.stringify([path, query]);
  const [state, setState] = useState<{ address: string; data?: Answer; failure?: ApiFailure }>({ address });
  const reload = useRef(() => {});
  const concerns = useRef(isChanged);
  concerns.current = isChanged;

  useEffect(() => {
    const followed = followResource<Answer>(path, {
      ...{ query, features, refreshMs },
      isChanged: (key) => concerns.current?.(key) === true,
      onAnswer: (data) => setState({ address, data }),
      onFailure: (failure) => setState((last) => ({ ...(last.address === address && last), address, failure })),
    });
    reload.current = followed.reload;
    return followed.stop;
    // `address` stands for path and query, and `features` for its names.
  }, [address, features.join(), refreshMs]);

  const current = state.address === address ? state : undefined;
  return { data: current?.data, failure: current?.failure, reload: () => reload.current() };
}

/** Loads a resource, and loads it again after changes and failures, until `stop` is called. */
export function followResource<Answer>(
  path: string,
  {
    query,
    features = [],
    refreshMs,
    isChanged,
    onAnswer,
    onFailure,
  }: ResourceOptions & { onAnswer: (data: Answer) => void; onFailure: (failure: ApiFailure) => void },
): { reload: () => void; stop: () => void } {
  const controller = new AbortController();
  const { signal } = controller;
  const timer = new ReloadTimer(() => void load());
  let isLoading = false;
  let isStale = false;
  const load = async () => {
    if (isLoading) {
      isStale = true;
      return;
    }
    timer.stop();
    isLoading = true;
    let pauseMs = refreshMs;
    try {
      const data = await getJson<Answer>(path, { query, signal });
      if (!signal.aborted) onAnswer(data);
    } catch (error) {
      const failure = toApiFailure(error);
      if (failure.isTemporary) pauseMs ??= retryMs;
      if (!signal.aborted) onFailure(failure);
    }
    isLoading = false;
    if (signal.aborted) return;
    if (isStale) timer.changed();
    else if (pauseMs !== undefined) timer.refreshAfter(pauseMs);
    isStale = false;
  };
  const unsubscribe = subscribe({
    opened: () => void load(),
    messages: (messages) => {
      const isConcerned = messages.some(
        (message) =>
          (message.type === "changed" && message.features.some((feature) => features.includes(feature))) ||
          (message.type === "deliveries" && message.deliveries.some((key) => isChanged?.(key))),
      );
      if (isConcerned) timer.changed();
    },
  });
  void load();
  return {
    reload: () => void load(),
    stop: () => {
      timer.stop();
      controller.abort();
      unsubscribe();
    },
  };
}

/** Changes that arrive together cause one reload. In milliseconds. */
const reloadDelayMs = 300;

/** Runs a reload after a change, or after an interval without changes. */
export class ReloadTimer {
  readonly #reload: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasChange = false;

  constructor(reload: () => void) {
    this.#reload = reload;
  }

  /** Reloads 300 ms after the first change. Later changes do not delay the reload, so that it also happens under constant load. */
  changed(): void {
    if (this.#hasChange) return;
    this.#start(reloadDelayMs);
    this.#hasChange = true;
  }

  /** Reloads after this time in milliseconds, or earlier after a change. */
  refreshAfter(ms: number): void {
    if (!this.#hasChange) this.#start(ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#hasChange = false;
  }

  #start(ms: number): void {
    this.stop();
    this.#timer = setTimeout(() => {
      this.#hasChange = false;
      this.#reload();
    }, ms);
  }
}

/** The state of the dev session. `undefined` until it is loaded, and in other places. */
export const dev = signal<DevInfo | undefined>(undefined);

/** Keeps {@link dev} up to date. Returns a function that stops. */
export function followDev(): () => void {
  let hasNewer = false;
  const { reload, stop } = followResource<DevInfo>("dev", {
    onAnswer: (info) => {
      // The answer can be older than a message that arrived while it loaded.
      if (hasNewer) reload();
      else dev.value = info;
      hasNewer = false;
    },
    onFailure: () => {},
  });
  const unsubscribe = subscribe({
    messages: (messages) => {
      for (const message of messages) {
        if (message.type !== "dev") continue;
        hasNewer = true;
        dev.value = message.dev;
      }
    },
  });
  return () => {
    stop();
    unsubscribe();
  };
}
