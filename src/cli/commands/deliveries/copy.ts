import * as z from "zod/mini";
import { messageOf, readField } from "../../../core/describe.ts";
import { WebhookError } from "../../../core/errors.ts";
import { directFetch } from "../../../core/fetch.ts";
import { readJson } from "../../../core/text.ts";
import { consolePath, defaultPort, readBaseUrl, webhooksPath } from "../../../core/urls.ts";
import { findSessionSecret } from "../../../dev/session-file.ts";
import { HttpSender } from "../../../local-hub/delivery/http-sender.ts";
import { type Invocation, type Shell, stopSignal } from "../../invocation.ts";
import { usageError } from "../../usage.ts";
import { deliveriesResult } from "../trigger/results.ts";
import { postOnce } from "../trigger/url-sender.ts";

/** The timeout of a request to the other receiver. */
const timeoutMs = 30_000;

const list = z.object({ deliveries: z.array(z.object({ id: z.string(), endpoint: z.string() })) });
const details = z.object({ endpoint: z.string(), body: z.string(), bodyLength: z.optional(z.number()) });

/**
 * Reads a delivery of the receiver at `from` through the API of its console, which changes nothing there, and delivers it to a receiver on
 * this machine, with a new ID.
 *
 * @throws `ARGUMENT_INVALID`, `DELIVERY_UNKNOWN`, `CONSOLE_TOKEN_INVALID`, `NO_RESPONSE`.
 */
export async function copyDelivery(
  invocation: Invocation,
  { id, from, to, endpoint }: { id: string; from: string; to: string; endpoint: string | undefined },
): Promise<void> {
  const { shell, output } = invocation;
  const [source, target] = [baseUrl(from, "--from"), baseUrl(to, "--to")];
  const read = readerOf(source, shell);
  const name = endpoint ?? (await findEndpoint(read, id));
  const { body, bodyLength } = await read("deliveries/one", { endpoint: name, id }, details);
  if (bodyLength !== undefined) {
    throw new WebhookError("The console returns at most 1 MiB of a body, so this delivery cannot be copied.", {
      code: "BODY_TOO_LARGE",
    });
  }
  const url = `${target}${webhooksPath}${name}`;
  const secret = findSessionSecret(url) ?? (shell.env.WEBHOOK_SECRET || undefined);
  const sender = new HttpSender({ allowRemote: false });
  const signal = stopSignal(shell);
  try {
    const delivered = await postOnce(sender, { url, secret, body, signal });
    output.printResult(deliveriesResult([delivered], { json: { copyOf: { endpoint: name, id }, ...delivered } }));
    if (delivered.error !== null) invocation.exitCode = 1;
    if (delivered.error?.includes("ECONNREFUSED")) {
      output.log(`No server listens at ${target}. Start one with npx hub-webhooks dev, or set its URL with --to.`);
    }
  } finally {
    sender.close();
  }
}

function baseUrl(text: string, option: string): string {
  const url = readBaseUrl(text === "local" ? `http://127.0.0.1:${defaultPort}` : text);
  if (url !== undefined) return url;
  throw usageError(
    `Invalid ${option}. Use the URL of a receiver, such as https://me-bot.hf.space, without a password.`,
  );
}

type Read = <Schema extends z.ZodMiniType>(
  path: string,
  query: Record<string, string>,
  schema: Schema,
) => Promise<z.output<Schema>>;

/** Returns a function that reads the API of a receiver's console. */
function readerOf(source: string, { env }: Shell): Read {
  const token = env.CONSOLE_TOKEN || undefined;
  if (token === undefined) throw usageError("Set CONSOLE_TOKEN to the console token of the receiver in --from.");
  return async (path, query, schema) => {
    const url = `${source}${consolePath}/api/${path}?${new URLSearchParams(query)}`;
    const signal = AbortSignal.timeout(timeoutMs);
    const headers = { authorization: `Bearer ${token}` };
    const noResponse = (cause: unknown) => {
      const reason = messageOf(readField(cause, "cause") ?? cause);
      throw new WebhookError(`${source} did not respond (${reason}). Check the URL.`, { code: "NO_RESPONSE" });
    };
    const response = await directFetch(url, { headers, redirect: "manual", signal }).catch(noResponse);
    const answer = readJson(await response.text().catch(noResponse));
    const parsed = schema.safeParse(answer);
    if (response.ok && parsed.success) return parsed.data;
    if (response.status === 401) {
      throw new WebhookError(`${source} does not accept CONSOLE_TOKEN. Use the value of its own CONSOLE_TOKEN.`, {
        code: "CONSOLE_TOKEN_INVALID",
      });
    }
    if (response.status === 404 && path === "deliveries/one") throw unknown(query.id ?? "");
    if (response.status === 429 || response.status >= 500) {
      throw new WebhookError(`${source} responded with ${response.status}. Try again later.`, { code: "NO_RESPONSE" });
    }
    const problem =
      response.status >= 300 && response.status < 400
        ? "redirects"
        : answer === undefined
          ? "does not respond with JSON"
          : undefined;
    throw new WebhookError(
      problem === undefined
        ? `${source} has no console of this version (status ${response.status}). Check the URL, and update the package there.`
        : `${source} ${problem} (status ${response.status}), so it is no receiver with a console. Check the URL.`,
      { code: "NO_RESPONSE" },
    );
  };
}

async function findEndpoint(read: Read, id: string): Promise<string> {
  const { deliveries } = await read("deliveries", { search: id, limit: "200" }, list);
  const names = deliveries.filter((delivery) => delivery.id === id).map(({ endpoint }) => endpoint);
  const [name, ...others] = new Set(names);
  if (name === undefined) throw unknown(id);
  if (others.length === 0) return name;
  throw usageError(`Several endpoints have this delivery: ${[name, ...others].join(", ")}. Add --endpoint NAME.`);
}

function unknown(id: string): WebhookError {
  return new WebhookError(`The receiver has no delivery "${id}". Copy the ID from its console.`, {
    code: "DELIVERY_UNKNOWN",
  });
}
