import type { DeliveryStatus } from "../../inbox/inbox.ts";

/** Relative to the server's root, so that the dashboard works below any path of a proxy too. */
const root = "_deliveries";

/** The address of the list, or of a part of it. */
export function listAddress(chosen: {
  status?: DeliveryStatus | undefined;
  endpoint?: string | undefined;
  cursor?: string | undefined;
}): string {
  const query = new URLSearchParams();
  for (const name of ["status", "endpoint", "cursor"] as const) {
    const value = chosen[name];
    if (value !== undefined) query.set(name, value);
  }
  return query.size === 0 ? root : `${root}?${query}`;
}

/** The address of the page of one delivery. */
export function deliveryAddress({ endpoint, id }: { endpoint: string; id: string }): string {
  return `${root}?${new URLSearchParams({ endpoint, id })}`;
}

/** The address of its body, as it arrived. */
export function bodyAddress({ endpoint, id }: { endpoint: string; id: string }): string {
  return `${root}/body?${new URLSearchParams({ endpoint, id })}`;
}

/** The address of a style sheet or a script. */
export function assetAddress(name: string): string {
  return `${root}/assets/${name}`;
}
