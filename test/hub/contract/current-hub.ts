import { asObject } from "../../../scripts/contract-diff/schema-facts.ts";
import { sampleOf, variantsOf } from "./cases.ts";
import { documentSchema } from "./document.ts";
import { kindOf } from "./kinds.ts";
import { type OperationFacts, operations } from "./operations.ts";

/** The ID of everything that the current Hub returns. */
export const sampleId = String(kindOf("objectId").accepted[0]);

/** The Hub of today in memory, made from the facts: without the operations and fields that the Hub has removed. */
export interface CurrentHub {
  fetch: typeof fetch;
  /** The operation IDs of the requests. */
  readonly called: readonly string[];
  /** Fields of requests that this Hub does not have, and therefore ignored. */
  readonly ignored: readonly string[];
}

export function openCurrentHub(): CurrentHub {
  const called: string[] = [];
  const ignored: string[] = [];
  return { called, ignored, fetch: async (input, init) => answer(new Request(input, init), { called, ignored }) };
}

async function answer(
  request: Request,
  { called, ignored }: { called: string[]; ignored: string[] },
): Promise<Response> {
  const url = new URL(request.url);
  const text = await request.text();
  const found = find(request.method, url.pathname);
  if (!found || Object.values(found.params).some((id) => /^0{24}$/.test(id)))
    return refuse(404, "There is no such thing.");
  const { facts } = found;
  called.push(facts.operationId);
  const isJson = text === "" || request.headers.get("content-type") === "application/json";
  if (!isJson || request.headers.get("authorization") !== "Bearer hf_ada") return refuse(401, "The headers are wrong.");
  ignored.push(...[...url.searchParams.keys()].filter((name) => !Object.hasOwn(facts.query ?? {}, name)));
  const body: unknown = text === "" ? undefined : JSON.parse(text);
  if (facts.request !== undefined && body !== undefined) {
    const name = facts.request.replace("?", "");
    const isValid = documentSchema(`/components/schemas/${name}`);
    if (!isValid(body)) return refuse(400, JSON.stringify(isValid.errors));
    const known = currentFacts(name).map(({ path }) => path);
    const isKnown = (path: string) => known.includes(path) || known.includes(path.replace(/\.[^.]*$/, "{}"));
    ignored.push(...fieldsOf(body).filter((path) => !isKnown(path)));
  }
  if (facts.mediaType !== undefined) return new Response("", { headers: { "content-type": facts.mediaType } });
  return Response.json(responseTo(facts, body));
}

function refuse(status: number, error: string): Response {
  return Response.json({ error }, { status, headers: { "x-error-message": error } });
}

function find(method: string, path: string): { facts: OperationFacts; params: Record<string, string> } | undefined {
  for (const facts of operations) {
    if (facts.method !== method || facts.change === "removed") continue;
    const pattern = facts.path.replace("{action}", "(enable|disable)").replace(/\{(\w+)\}/g, "(?<$1>[^/]+)");
    const match = new RegExp(`^${pattern}$`).exec(path);
    if (match) return { facts, params: { ...match.groups } };
  }
  return undefined;
}

/** Returns the facts of all variants of a body that the current Hub has. */
function currentFacts(name: string) {
  return variantsOf(name).flatMap(withoutRemoved);
}

function withoutRemoved(facts: ReturnType<typeof variantsOf>[number]) {
  const removed = facts.filter(({ change }) => change === "removed").map(({ path }) => path);
  return facts.filter(({ path }) => !removed.some((field) => path === field || path.startsWith(`${field}[`)));
}

/** Returns the paths of all fields in a body, such as `watched[].type`. */
function fieldsOf(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => fieldsOf(item, `${path}[]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const at = path === "" ? name : `${path}.${name}`;
    return [at, ...fieldsOf(field, at)];
  });
}

function samples(name: string) {
  return variantsOf(name).map((facts) => sampleOf(withoutRemoved(facts)));
}

function responseTo({ response = {} }: OperationFacts, body: unknown): unknown {
  if (typeof response !== "string") {
    const fields = Object.entries(response).map(([name, kind]) => [
      name,
      kind === "number" ? 1 : webhookAfter(asObject(body)),
    ]);
    return Object.fromEntries(fields);
  }
  if (response === "Webhook[]") return [webhookAfter({})];
  return response.endsWith("[]") ? samples(response.replace("[]", "")) : samples(response)[0];
}

/** Returns the webhook after a change, with only one target, and without the fields of a job that the Hub does not return. */
function webhookAfter({ secret, job, ...changes }: Readonly<Record<string, unknown>>): object {
  const { job: _, jobSourceId: _source, ...webhook } = samples("Webhook")[0] ?? {};
  const given = { ...webhook, ...changes, hasSecret: secret !== "" };
  return job === undefined ? given : { ...given, url: undefined, job: samples("WebhookJob")[0] };
}
