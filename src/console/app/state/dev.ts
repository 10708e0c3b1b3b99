import { signal } from "@preact/signals";
import type { DevInfo } from "../../protocol/dev.ts";
import { getJson } from "../api/client.ts";
import { subscribe } from "../api/stream.ts";

/** The state of the dev session. `undefined` until it is loaded, and in other places. */
export const dev = signal<DevInfo | undefined>(undefined);

/** Keeps {@link dev} up to date. Returns a function that stops. */
export function followDev(): () => void {
  const load = () => {
    getJson<DevInfo>("dev").then(
      (info) => {
        dev.value = info;
      },
      // The stream reconnects, and then loads again.
      () => {},
    );
  };
  load();
  return subscribe({
    reconnected: load,
    messages: (messages) => {
      for (const message of messages) if (message.type === "dev") dev.value = message.dev;
    },
  });
}
