import type { Context } from "hono";
import type { ConsoleResource } from "../../console/server/console.ts";
import { WebhookError } from "../../core/errors.ts";
import { directFetch } from "../../core/fetch.ts";
import { consolePath } from "../../core/urls.ts";
import { readHonoBody } from "../../http/body.ts";

export interface ForwardOptions {
  /** Returns the current port of the server. Waits while the server is loading. @throws `SERVER_FILE_INVALID`. */
  serverPort: () => Promise<number>;
  /** The console token of the server. */
  token: string;
}

const timeoutMs = 60_000;
const maxRequestBytes = 11 * 1024 * 1024;

/** Forwards the routes of deliveries, endpoints, and the inbox to the API of the server's own console. */
export function forwardToServer(options: ForwardOptions): ConsoleResource {
  return (app) => {
    for (const pattern of ["/deliveries", "/deliveries/*", "/endpoints", "/endpoints/*", "/inbox"]) {
      app.all(pattern, (context) => forward(context, options));
    }
  };
}

/** Returns the URL of a path of the server's console API, such as `/stream`. */
export function serverApiUrl(port: number, path: string): string {
  return `http://127.0.0.1:${port}${consolePath}/api${path}`;
}

async function forward(context: Context, { serverPort, token }: ForwardOptions): Promise<Response> {
  const port = await serverPort();
  const { method, url, path } = context.req;
  // The path starts with the prefix of the API.
  const apiPath = path.slice(path.indexOf("/api/") + "/api".length);
  const body = method === "GET" || method === "HEAD" ? undefined : await readHonoBody(context, maxRequestBytes);
  try {
    const response = await directFetch(`${serverApiUrl(port, apiPath)}${new URL(url).search}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status === 401) throw consoleUnavailable();
    return new Response(await response.text(), {
      status: response.status,
      headers: { "Content-Type": response.headers.get("content-type") ?? "application/json" },
    });
  } catch (cause) {
    if (WebhookError.isInstance(cause)) throw cause;
    throw new WebhookError("The server stopped before it answered, probably because it is reloading. Try again.", {
      code: "NO_RESPONSE",
      status: 503,
      cause,
    });
  }
}

function consoleUnavailable(): WebhookError {
  return new WebhookError(
    "The server did not accept the session's console. Update hub-webhooks in the project, and check that middleware of the app does not require another sign-in for /_console.",
    { code: "NO_RESPONSE", status: 502 },
  );
}
