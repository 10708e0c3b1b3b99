import { signal } from "@preact/signals";
import type { DevInfo } from "../../protocol/dev.ts";
import { subscribe } from "../api/stream.ts";
import { followResource } from "./resource.ts";

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
