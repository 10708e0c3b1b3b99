import type { IncomingMessage, ServerResponse } from "node:http";
import { renderErrorPage } from "../console/error-page.ts";
import { wantsHtml } from "../core/http-headers.ts";
import { isLoopbackHost } from "../core/loopback.ts";

/** What {@link createHostCheck} needs. */
export interface HostCheckOptions {
  /** Whether a request may name any host. Default: only one of this machine. */
  takesAnyHost?: boolean;
  /** Gets each host, once, for which a request was refused. */
  onForeignHost?: (host: string) => void;
}

/** Anyone can make up host names, so only the first ones are reported. */
const maxReportedHosts = 20;

/**
 * Creates the check of the `Host` header: it returns whether a request names a host other than this machine. A page of
 * any site can point its own name at this machine (DNS rebinding) and would then share the origin of the server, but the
 * browser still sends that name.
 */
export function createHostCheck({
  takesAnyHost = false,
  onForeignHost,
}: HostCheckOptions): (incoming: IncomingMessage) => boolean {
  const reported = new Set<string>();
  return ({ headers: { host } }) => {
    if (takesAnyHost || host === undefined || isLoopbackHost(URL.parse(`http://${host}`)?.hostname ?? "")) return false;
    if (!reported.has(host) && reported.size < maxReportedHosts) {
      reported.add(host);
      onForeignHost?.(host);
    }
    return true;
  };
}

/** Answers a request that names a foreign host. */
export function refuseHost({ incoming, outgoing }: { incoming: IncomingMessage; outgoing: ServerResponse }): void {
  const [code, error] = ["CROSS_SITE_REFUSED", "Use this server by its own address, 127.0.0.1 or localhost."];
  const { method = "GET", headers } = incoming;
  const isBrowser = wantsHtml({ method, accept: headers.accept });
  const page = isBrowser ? renderErrorPage({ status: 403, code, message: error }) : undefined;
  outgoing.writeHead(403, { ...(page?.headers ?? { "content-type": "application/json" }), connection: "close" });
  outgoing.end(page?.html ?? JSON.stringify({ error, code }));
}
