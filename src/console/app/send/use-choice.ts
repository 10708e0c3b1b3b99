import { useState } from "preact/hooks";
import type { Choice } from "./recipients.tsx";
import type { Past } from "./use-editing.ts";

/** Lets the user choose endpoints. At first, the endpoint of a past delivery is chosen, otherwise all endpoints. */
export function useChoice(past: Past | undefined): Choice {
  const [changes, setChanges] = useState<ReadonlyMap<string, boolean>>(new Map());
  const only = past && "endpoint" in past ? past.endpoint : undefined;
  return {
    isChosen: (endpoint) => changes.get(endpoint) ?? (only === undefined || only === endpoint),
    choose: (endpoint, isChosen) => setChanges((known) => new Map(known).set(endpoint, isChosen)),
  };
}
