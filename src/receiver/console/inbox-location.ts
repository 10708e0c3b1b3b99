import { resolve } from "node:path";
import type { InboxLocation } from "../../console/protocol/inbox.ts";
import { readEnvironment } from "../../core/environment.ts";
import { WebhookError } from "../../core/errors.ts";
import { readSpace } from "../../core/space.ts";
import { parseBucketUrl } from "../../inbox/bucket/bucket-url.ts";
import { postgresSchema, redisPrefix } from "../../inbox/bullmq/names.ts";
import type { Inbox } from "../../inbox/inbox.ts";
import { parseInboxUrl } from "../../inbox/inbox-url.ts";
import { isOnLocalDisk } from "../../inbox/open-inbox.ts";

/** Describes the location of an inbox. `inbox`: its URL, or an `Inbox` object. `undefined`: memory. */
export function locateInbox(inbox: string | Inbox | undefined): InboxLocation {
  if (typeof inbox === "object") return { engine: "custom" };
  try {
    return locateUrl(inbox ?? "sqlite::memory:");
  } catch (error) {
    if (WebhookError.isInstance(error)) return { engine: "unknown" };
    throw error;
  }
}

/** @throws `OPTION_INVALID` if the URL is not supported. */
function locateUrl(url: string): InboxLocation {
  const parsed = parseInboxUrl(url);
  if (parsed.engine === "bucket") {
    const { name, endpoint } = parseBucketUrl(url, readEnvironment);
    return { engine: "bucket", address: name, api: endpoint, keptUntil: "retention" };
  }
  if (parsed.engine === "sqlite") {
    if (parsed.file === ":memory:") return { engine: "memory", keptUntil: "process-exit" };
    const isErased = readSpace() !== undefined && isOnLocalDisk(url);
    return {
      ...{ engine: "sqlite", address: resolve(parsed.file) },
      keptUntil: isErased ? "space-restart" : "retention",
    };
  }
  const { engine } = parsed;
  const namespace = engine === "redis" ? redisPrefix : postgresSchema;
  return { engine, ...locateServer(url, engine), namespace, keptUntil: "retention" };
}

const defaultPorts = { redis: "6379", postgres: "5432" } as const;

/**
 * Only selects parts that cannot contain a secret. If a password is not escaped, a part of it can be in the path, the query, or the
 * fragment, followed by `@`.
 */
function locateServer(
  text: string,
  engine: keyof typeof defaultPorts,
): Pick<InboxLocation, "address" | "database"> | undefined {
  const url = URL.parse(text);
  if (!url || `${url.pathname}${url.search}${url.hash}`.includes("@")) return undefined;
  // PostgreSQL also accepts the host as a parameter, for example the folder of a socket.
  const host = url.hostname || url.searchParams.get("host") || "localhost";
  const database = url.pathname.slice(1) || (engine === "redis" ? "0" : undefined);
  return {
    address: host.startsWith("/") ? host : `${host}:${url.port || defaultPorts[engine]}`,
    ...(database !== undefined && { database }),
  };
}
