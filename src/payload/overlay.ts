/**
 * Lays `changes` over `base`: objects key by key, everything else whole; `undefined` takes a key away. Neither of them
 * is changed.
 */
export function overlay(base: object, changes: object): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, change] of Object.entries(changes)) {
    // Assigned, it would become the prototype.
    if (key === "__proto__") continue;
    if (change === undefined) delete merged[key];
    else merged[key] = isRecord(change) ? overlay(asRecord(merged[key]), change) : change;
  }
  return merged;
}

function asRecord(value: unknown): object {
  return isRecord(value) ? value : {};
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
