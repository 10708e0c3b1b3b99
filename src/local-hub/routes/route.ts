import type { Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import type * as z from "zod/mini";
import { readJson } from "../../core/text.ts";
import type { Operation, Operations } from "../../hub/operation.ts";
import { repositoryPathTypes } from "../../hub/repositories/repository-path.ts";
import { authorize, type OrganizationAccess, type Requirement } from "../access.ts";
import { type Caller, developmentTokens, findCaller, serverToken } from "../accounts.ts";
import { badRequest, forbidden, parseRequest } from "../error-response.ts";
import { isServerRequest } from "../events/scenario-recorder.ts";
import type { HubContext } from "../hub-context.ts";
import type { AuditEntry } from "../store/audit-log-store.ts";

/** A resource of the API that the local Hub serves, with its documentation. */
export interface ResourceApi {
  routes: Readonly<Record<string, Route>>;
  /** The schemas that the OpenAPI document lists under `components`, by name. */
  components: Readonly<Record<string, z.ZodMiniType>>;
  /** Adds the handlers of the routes to the app. */
  serve: (app: Hono<ApiEnvironment>, context: HubContext) => void;
}

export type Route<Served extends Operation = Operation> = Served & RouteDetails;

interface RouteSummary {
  /** Default: the tag of the table. */
  tag?: TagName;
  /** The token that the operation requires. Default: `read` for GET, otherwise `write`. */
  token?: TokenRequirement;
  description?: string;
  /** The headers that the operation reads, and descriptions of query parameters. */
  parameters?: Readonly<Record<string, { in: "query" | "header"; description: string }>>;
  success: string;
  headers?: ResponseHeaders;
  /** The redirect, if the operation can redirect. Default status 302. */
  redirect?: { status?: 302 | 307; description: string; headers: ResponseHeaders };
  /** The errors that do not follow from the operation itself: see {@link errorsOf}. */
  errors?: readonly RouteError[];
}

/** The details of a route that only the OpenAPI document contains. */
export interface RouteDetails extends Omit<RouteSummary, "tag" | "errors"> {
  /** Such as `get`. */
  method: string;
  path: string;
  tag: TagName;
  token: TokenRequirement;
  /** The possible errors, except for token errors (401) and body errors (413 and 415). */
  errors: readonly RouteError[];
}

/** An error with status 400, 403, 404, 409, 412, or 422. */
type RouteError = "invalid" | "forbidden" | "notFound" | "conflict" | "outdated" | "incomplete";

export type ResponseHeaders = Readonly<Record<string, { description: string }>>;

export const nextPageHeader: ResponseHeaders = { Link: { description: 'The URL of the next page, with rel="next".' } };

/** The redirect of a read by a previous name. `what` is the kind of resource, such as `repository`. */
export function movedRedirect(what: string) {
  return {
    status: 307,
    description: `The ${what} was moved.`,
    headers: { Location: { description: "The new URL." } },
  } as const;
}

export function describeRoutes<const Served extends Operations, const Names extends keyof Served & string>(
  operations: Served,
  tag: TagName,
  summaries: Readonly<Record<Names, RouteSummary>>,
): { readonly [Name in Names]: Route<Served[Name]> };
export function describeRoutes(
  operations: Operations,
  tag: TagName,
  summaries: Readonly<Record<string, RouteSummary>>,
) {
  return Object.fromEntries(
    Object.entries(summaries).flatMap(([name, summary]) => {
      const operation = operations[name];
      if (!operation) return [];
      const [method = "", path = ""] = operation.requestLine.split(" ");
      const { token = isReadMethod(method) ? "read" : "write" } = summary;
      const errors = [...errorsOf(operation, token), ...(summary.errors ?? [])];
      return [[name, { ...operation, method: method.toLowerCase(), path, tag, ...summary, token, errors }]];
    }),
  );
}

/**
 * Returns the errors that follow from an operation: 400 for an invalid query or body, 403 for a token without access to write or to the
 * owner in the path, and 404 for an unknown name or ID in the path.
 */
function errorsOf({ requestLine, request }: Operation, token: TokenRequirement): RouteError[] {
  const [hasOwner, hasName] = [/\{(name|namespace)\}/.test(requestLine), /\{(?!repoType)\w+\}/.test(requestLine)];
  return [
    ...(request?.query || request?.body ? ["invalid" as const] : []),
    ...(token === "write" || (token === "read" && hasOwner) ? ["forbidden" as const] : []),
    ...(hasName ? ["notFound" as const] : []),
  ];
}

type Parsed<Schema> = Schema extends z.ZodMiniType ? z.output<Schema> : undefined;
type RequestOf<Served extends Operation> = Served extends { request: infer Request } ? Request : object;
type ParamsOf<Request> = Request extends { params: infer Schema } ? Parsed<Schema> : undefined;
type QueryOf<Request> = Request extends { query: infer Schema } ? Parsed<Schema> : undefined;
type BodyOf<Request> = Request extends { body: { content: { "application/json": { schema: infer Schema } } } }
  ? Parsed<Schema>
  : undefined;

interface RouteRequest<Served extends Operation> {
  params: ParamsOf<RequestOf<Served>>;
  query: QueryOf<RequestOf<Served>>;
  body: BodyOf<RequestOf<Served>>;
}

/** Handles a valid request. Returns the JSON of a successful response, by default `{}`, or a complete response. */
type RouteHandler<Served extends Operation> = (
  request: RouteRequest<Served>,
  context: Context<ApiEnvironment>,
) => z.output<Served["response"]> | Response | Promise<z.output<Served["response"]> | Response>;

/** Serves a route. Answers invalid requests with 400 and the invalid fields, and bodies that are not JSON with 415. */
export function serveRoute<Served extends Operation>(
  app: Hono<ApiEnvironment>,
  route: Served & Pick<RouteSummary, "token">,
  handler: RouteHandler<Served>,
): void {
  const [method = "", path = ""] = route.requestLine.split(" ");
  const { token = isReadMethod(method) ? "read" : "write" } = route;
  app.on(method, toPattern(path), async (context) => {
    requireToken(context, token);
    const answer = await handler(await readRequest(route, context), context);
    return answer instanceof Response ? answer : context.json(answer ?? {});
  });
}

export function isReadMethod(method: string): boolean {
  return /^(get|head)$/i.test(method);
}

/** The patterns of path parameters that are not one path segment with any content. */
const parameterPatterns: Readonly<Record<string, string>> = {
  repoType: `{(?:${repositoryPathTypes.join("|")})}`,
  // The path of a file. Without a path, the parameter is missing.
  path: "{.+}?",
};

/** The pattern of a namespace that is empty for repositories without an owner: see `routedPath` in `app.ts`. */
export const anyNamespace = "{[^/]*}";

function toPattern(path: string): string {
  const pattern = path.replace(/\{(\w+)\}/g, (_, name: string) => `:${name}${parameterPatterns[name] ?? ""}`);
  return pattern.replace(":namespace/:repo", `:namespace${anyNamespace}/:repo`);
}

type ApiContext = Context<ApiEnvironment>;

async function readRequest<Served extends Operation>(_: Served, context: ApiContext): Promise<RouteRequest<Served>>;
async function readRequest({ request = {} }: Operation, context: Context<ApiEnvironment>) {
  const { params, query, body } = request;
  return {
    query: query && parseRequest(query, readQuery(context), "query"),
    params: params && parseRequest(params, context.req.param(), "param"),
    body: body && (await readBody(body, context)),
  };
}

/** Returns the query parameters as an object. The values of repeated parameters are arrays. */
function readQuery(context: Context<ApiEnvironment>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(context.req.queries()).map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
}

type OperationBody = NonNullable<NonNullable<Operation["request"]>["body"]>;

async function readBody({ content, required }: OperationBody, context: Context<ApiEnvironment>): Promise<unknown> {
  const { schema } = content["application/json"];
  const text = await context.req.text();
  const contentType = context.req.header("content-type");
  if (contentType === undefined && text === "") return required ? parseRequest(schema, {}, "body") : {};
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType ?? "")) {
    throw new HTTPException(415, {
      message:
        "The content type is not application/json. Send the body with the header content-type: application/json.",
    });
  }
  const json = readJson(text);
  if (json === undefined) throw badRequest("The body is not valid JSON. Check the quotes, commas, and brackets.");
  return parseRequest(schema, json, "body");
}

/** Yields a body. Throws the error of `tooLarge` if the body has more than `maxBytes`. */
export async function* limitBytes(body: AsyncIterable<Uint8Array>, maxBytes: number, tooLarge: () => Error) {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge();
    yield chunk;
  }
}

export interface ApiEnvironment {
  Variables: {
    /** The caller. Only operations with the token requirement `optional` must read `optionalCaller` instead. */
    caller: Caller;
    optionalCaller: Caller | undefined;
  };
}

/** `write`: a token that can write. `optional`: any token, or no token for public repositories. */
export type TokenRequirement = "write" | "read" | "optional";

const knownTokens = developmentTokens.map(({ token }) => token).join(", ");

export function authorizeCaller(
  { store }: HubContext,
  context: Context<ApiEnvironment>,
  organization: string,
  requirement: Requirement,
): OrganizationAccess {
  return authorize(store, context.var.caller, organization, requirement);
}

/** Returns a function that records actions of the caller in the audit log of an organization. */
export function auditorOf({ auditLog }: HubContext, context: ApiContext, organization: string) {
  const { caller } = context.var;
  const request = { caller, userAgent: context.req.header("user-agent") };
  return (action: Pick<AuditEntry, "type" | "message" | "data">): void =>
    auditLog.record({ ...action, organization, author: caller.user, request });
}

/** Accepts requests without a token, which {@link requireToken} rejects. @throws `HTTPException` 401 if the token is unknown. */
export async function authenticate(context: Context<ApiEnvironment>, next: () => Promise<void>): Promise<void> {
  const [, token] = /^Bearer +(\S+) *$/i.exec(context.req.header("authorization") ?? "") ?? [];
  const caller = token === undefined ? undefined : findCaller(token);
  if (token !== undefined && !caller) {
    throw new HTTPException(401, { message: `Unknown token. Valid tokens of the local Hub: ${knownTokens}.` });
  }
  context.set("optionalCaller", caller);
  if (caller) context.set("caller", caller);
  await isServerRequest.run(token === serverToken, next);
}

/** @throws `HTTPException` 401 if the token is missing, 403 if it can only read. */
export function requireToken({ var: { optionalCaller } }: Context<ApiEnvironment>, required: TokenRequirement): void {
  if (required === "optional") return;
  if (!optionalCaller) throw tokenMissing();
  if (required === "write" && optionalCaller.tokenRole === "read") {
    throw forbidden("This token has read access only. Use hf_local to write.");
  }
}

export function tokenMissing(): HTTPException {
  return new HTTPException(401, {
    message: `Send "Authorization: Bearer TOKEN" with a token of the local Hub: ${knownTokens}.`,
  });
}

/** The tags of the OpenAPI document, named as in the Hub's specification. */
export const tags = [
  { name: "webhooks", description: "Webhooks, which call a URL or run a job when a repository changes." },
  { name: "notifications", description: "Notifications of a user, and their settings." },
  { name: "mcp", description: "The tools of the Hub's MCP server." },
  { name: "papers", description: "Papers and their authors." },
  { name: "orgs", description: "Organizations: members, tokens, network security, and audit log." },
  { name: "resource-groups", description: "Groups of repositories of an organization, with members and roles." },
  { name: "discussions", description: "Discussions and pull requests of repositories." },
  { name: "auth", description: "The user of a token." },
  { name: "users", description: "Public profiles of users." },
  { name: "jobs", description: "Jobs on the Hub's infrastructure." },
  { name: "repos", description: "Models, datasets, and Spaces, with their branches, tags, and files." },
  { name: "spaces", description: "What Spaces run, and their secrets and variables." },
  { name: "buckets", description: "Storage Buckets and their files." },
  { name: "scim", description: "Provisioning of users by an identity provider." },
] as const;

type TagName = (typeof tags)[number]["name"];

/** Adds the `Link` header of the next page to the response. `query` contains the parameters that differ from this page. */
export function linkNextPage(context: Context, query: Readonly<Record<string, string>>): void {
  // The link has the host of the request, because clients do not follow links to another host.
  const url = new URL(context.req.url);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  context.header("link", `<${url.href}>; rel="next"`);
}
