import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { onTestFinished } from "vitest";
import type { Schema } from "./json-schema.ts";
import { type PublishedOperation, publishedOperations } from "./operations.ts";
import { answerTo } from "./sample-answers.ts";

/** A Hub of 2026-08-17 on a loopback socket: it knows the published document and nothing of `src`. */
export interface PublishedHub {
  url: string;
  /** The operation of each request, as in `GET /api/notifications`. */
  readonly operations: readonly string[];
  /** Fields of requests that this Hub does not have, and so ignored. */
  readonly ignored: readonly string[];
}

const ajv = new Ajv2020({ strict: false, useDefaults: true });
addFormats.default(ajv);

/** Starts it; it is closed when the test is over. */
export async function openPublishedHub(): Promise<PublishedHub> {
  const operations: string[] = [];
  const ignored: string[] = [];
  const server = createServer(async (request, response) => {
    const { status, body, headers = {} } = await answer(request);
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  });

  async function answer(request: IncomingMessage): Promise<Answer> {
    const url = new URL(request.url ?? "", "http://hub.invalid");
    const found = find(request.method ?? "", url.pathname);
    if (!found) return refusal(404, `Sorry, we can't find ${request.method} ${url.pathname}.`);
    if (!/^Bearer hf_\w+$/.test(request.headers.authorization ?? "")) return refusal(401, "Invalid credentials.");
    const { operation, params } = found;
    operations.push(`${operation.method} ${operation.path}`);
    const content = await text(request);
    if (content !== "" && request.headers["content-type"] !== "application/json") return refusal(415, "Not JSON.");
    const body: unknown = operation.request ? JSON.parse(content || "{}") : undefined;
    const query = Object.fromEntries(url.searchParams);

    const problems = [...problemsOfQuery(operation, query), ...problemsOf(operation.request, body)];
    if (problems.length > 0) return refusal(400, problems.join("; "));
    ignored.push(...Object.keys(query).filter((name) => !Object.hasOwn(operation.query ?? {}, name)));
    ignored.push(...ignoredIn(operation.request, body));

    const given = answerTo(operation, { params, body });
    if (given === undefined) return refusal(404, "There is no such thing.");
    const wrong = problemsOf(operation.answer, given);
    if (wrong.length > 0) return refusal(500, `The mock is wrong: ${wrong.join("; ")}`);
    return { status: 200, body: given };
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The server has no port.");
  return { url: `http://127.0.0.1:${address.port}`, operations, ignored };
}

interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

function refusal(status: number, error: string): Answer {
  return { status, body: { error }, headers: { "x-error-message": error } };
}

function find(method: string, path: string) {
  for (const operation of publishedOperations) {
    if (operation.method !== method) continue;
    const pattern = operation.path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)");
    const match = new RegExp(`^${pattern}$`).exec(path);
    if (match && !["enable", "disable", undefined].includes(match.groups?.action)) continue;
    if (match) return { operation, params: { ...match.groups } };
  }
  return undefined;
}

function problemsOf(schema: Schema | undefined, value: unknown): string[] {
  if (schema === undefined || ajv.validate(schema, value)) return [];
  return (ajv.errors ?? []).map(({ instancePath, message }) => `${instancePath || "body"} ${message}`);
}

/** A query has strings alone: a number is one that is written as a number. */
function problemsOfQuery({ query = {} }: PublishedOperation, given: Record<string, string>): string[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const schema = query[name];
    const meant = schema?.type === "integer" ? Number(value) : value;
    return problemsOf(schema, meant).map((problem) => `${name}: ${problem}`);
  });
}

function ignoredIn(schema: Schema | undefined, value: unknown, place = ""): string[] {
  if (schema === undefined || typeof value !== "object" || value === null) return [];
  if (Array.isArray(value))
    return value.flatMap((item, index) => ignoredIn(part(schema.items), item, `${place}[${index}]`));
  const alternatives = Array.isArray(schema.anyOf) ? schema.anyOf.map(part) : [];
  if (alternatives.length > 0) {
    return ignoredIn(
      alternatives.find((alternative) => problemsOf(alternative, value).length === 0),
      value,
      place,
    );
  }
  const properties = part(schema.properties);
  if (properties === undefined) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    Object.hasOwn(properties, name)
      ? ignoredIn(part(properties[name]), field, `${place}.${name}`)
      : [`${place}.${name}`],
  );
}

function part(value: unknown): Schema | undefined {
  return typeof value === "object" && value !== null ? { ...value } : undefined;
}
