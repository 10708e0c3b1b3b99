import type { Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import * as z from "zod/mini";
import { describeIssue } from "../../core/describe.ts";
import type { Operation } from "../../hub/operation.ts";
import { repositoryPathTypes } from "../../hub/repositories/repository-path.ts";
import { fieldProblems } from "../../hub/validation/arguments.ts";
import { invalidRequest } from "../error-response.ts";
import type { HubContext } from "../hub-context.ts";
import type { TagName } from "../openapi/tags.ts";
import { type ApiEnvironment, requireToken, type TokenRequirement } from "./authentication.ts";

/** A resource of the API that the local Hub serves, with its documentation. */
export interface ResourceApi {
  routes: Readonly<Record<string, Route>>;
  /** The schemas that the OpenAPI document lists under `components`, by name. */
  components: Readonly<Record<string, z.ZodMiniType>>;
  /** Adds the handlers of the routes to the app. */
  serve: (app: Hono<ApiEnvironment>, context: HubContext) => void;
}

/** An operation that the local Hub serves, with its documentation. */
export type Route<Served extends Operation = Operation> = Served & RouteDetails;

/** The details of a route that only the OpenAPI document contains. */
export interface RouteDetails {
  tag: TagName;
  /** The token that the operation requires. Default: `read` for GET, otherwise `write`. */
  token?: TokenRequirement;
  description?: string;
  /** The headers that the operation reads, and descriptions of query parameters. */
  parameters?: Readonly<Record<string, { in: "query" | "header"; description: string }>>;
  /** The response with status 200. */
  success: { description: string; headers?: ResponseHeaders };
  /** The redirect, if the operation can redirect. Default status 302. */
  redirect?: { status?: 302 | 307; description: string; headers: ResponseHeaders };
  /** The possible errors, except for token errors (401) and body errors (413 and 415). */
  errors: readonly RouteError[];
}

/** An error with status 400, 403, 404, 409, or 412. */
export type RouteError = "invalid" | "forbidden" | "notFound" | "conflict" | "outdated";

/** The descriptions of response headers, by name. */
export type ResponseHeaders = Readonly<Record<string, { description: string }>>;

/** Adds documentation to an operation. */
export function describeRoute<const Served extends Operation>(operation: Served, details: RouteDetails): Route<Served> {
  return { ...operation, ...details };
}

type Parsed<Schema> = Schema extends z.ZodMiniType ? z.output<Schema> : undefined;
type RequestOf<Served extends Operation> = Served extends { request: infer Request } ? Request : object;
type ParamsOf<Request> = Request extends { params: infer Schema } ? Parsed<Schema> : undefined;
type QueryOf<Request> = Request extends { query: infer Schema } ? Parsed<Schema> : undefined;
type BodyOf<Request> = Request extends { body: { content: { "application/json": { schema: infer Schema } } } }
  ? Parsed<Schema>
  : undefined;

/** A valid request. */
export interface RouteRequest<Served extends Operation> {
  params: ParamsOf<RequestOf<Served>>;
  query: QueryOf<RequestOf<Served>>;
  body: BodyOf<RequestOf<Served>>;
}

/** Handles a valid request. Returns the JSON of a successful response, or a complete response. */
export type RouteHandler<Served extends Operation> = (
  request: RouteRequest<Served>,
  context: Context<ApiEnvironment>,
) => z.output<Served["response"]> | Response | Promise<z.output<Served["response"]> | Response>;

/** Serves a route. Answers invalid requests with 400 and the invalid fields, and bodies that are not JSON with 415. */
export function serveRoute<Served extends Operation>(
  app: Hono<ApiEnvironment>,
  route: Served & Pick<RouteDetails, "token">,
  handler: RouteHandler<Served>,
): void {
  const { token = isReadMethod(route.method) ? "read" : "write" } = route;
  app.on(route.method, toPattern(route.path), async (context) => {
    requireToken(context, token);
    const answer = await handler(await readRequest(route, context), context);
    return answer instanceof Response ? answer : context.json(answer);
  });
}

/** Whether requests with this method only read. */
export function isReadMethod(method: string): boolean {
  return /^(get|head)$/i.test(method);
}

/** The patterns of path parameters that are not one path segment with any content. */
const parameterPatterns: Readonly<Record<string, string>> = {
  repoType: `{(?:${repositoryPathTypes.join("|")})}`,
  // The path of a file. Without a path, the parameter is missing.
  path: "{.+}?",
};

/** Converts a path such as `/api/{repoType}/{namespace}` to a pattern of Hono. Hono decodes the values of parameters. */
function toPattern(path: string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => `:${name}${parameterPatterns[name] ?? ""}`);
}

async function readRequest<Served extends Operation>(
  { request }: Served,
  context: Context<ApiEnvironment>,
): Promise<RouteRequest<Served>>;
async function readRequest({ request = {} }: Operation, context: Context<ApiEnvironment>) {
  const { params, query, body } = request;
  return {
    query: query && parse(query, readQuery(context), "query"),
    params: params && parse(params, context.req.param(), "param"),
    body: body && (await readBody(body, context)),
  };
}

function parse(schema: z.ZodMiniType, value: unknown, name: string): unknown {
  const { data, error } = z.safeParse(schema, value, { error: describeIssue });
  if (!error) return data;
  throw invalidRequest(fieldProblems(error, { name }).map(({ field, problem }) => `${field}: ${problem}`));
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
  if (contentType === undefined && text === "") return required ? parse(schema, {}, "body") : {};
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType ?? "")) {
    throw new HTTPException(415, {
      message:
        "The content type is not application/json. Send the body with the header content-type: application/json.",
    });
  }
  return parse(schema, parseJson(text), "body");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HTTPException(400, { message: "The body is not valid JSON. Check the quotes, commas, and brackets." });
  }
}
