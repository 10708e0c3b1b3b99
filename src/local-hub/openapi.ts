import * as z from "zod/mini";
import * as core from "zod/v4/core";
import { findJsonRule } from "../hub/schemas.ts";
import { routes as allRoutes, resourceApis } from "./routes/index.ts";
import { type ResourceApi, type ResponseHeaders, type Route, tags } from "./routes/route.ts";

interface OpenApiParameter {
  name: string;
  in: "path" | "query" | "header";
  description?: string;
  required: boolean;
  schema: JsonSchema;
}

interface OpenApiResponse {
  description: string;
  headers?: Record<string, { description: string; schema: JsonSchema }>;
  content?: JsonContent;
}

type JsonContent = { "application/json": { schema: JsonSchema } };

/** Creates the OpenAPI 3.1 document of the local Hub from the schemas that validate requests. */
export function openApiDocument({ serverUrl, routes = allRoutes }: { serverUrl: string; routes?: readonly Route[] }) {
  const paths: Record<string, Record<string, ReturnType<typeof describeOperation>>> = {};
  for (const route of routes) paths[route.path] = { ...paths[route.path], [route.method]: describeOperation(route) };
  return {
    openapi: "3.1.0",
    info: {
      title: "Hub API",
      version: "0.0.1",
      description: "The part of the Hub's REST API that the local Hub serves.",
    },
    servers: [{ url: serverUrl }],
    tags: tags.filter(({ name }) => routes.some(({ tag }) => tag === name)),
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An access token, which starts with `hf_`." },
      },
      schemas: componentSchemas(),
    },
    paths,
  };
}

function describeOperation(route: Route) {
  const { operationId, summary, description, tag, token, request } = route;
  const parameters = describeParameters(route);
  return {
    operationId,
    summary,
    tags: [tag],
    security: [{ bearer: [] }, ...(token === "optional" ? [{}] : [])],
    ...(description !== undefined && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...(request?.body && {
      requestBody: {
        required: request.body.required,
        content: jsonContent(toJsonSchema(request.body.content["application/json"].schema)),
      },
    }),
    responses: describeResponses(route),
  };
}

function describeParameters({ request, parameters: details = {} }: Route): OpenApiParameter[] {
  const text: JsonSchema = { type: "string" };
  const headers = Object.entries(details).filter(([, parameter]) => parameter.in === "header");
  return [
    ...Object.entries(request?.params ? propertySchemas(request.params) : {}).map(
      ([name, schema]): OpenApiParameter => ({ name, in: "path", required: true, schema }),
    ),
    ...Object.entries(request?.query ? propertySchemas(request.query) : {}).map(
      ([name, schema]): OpenApiParameter => ({ name, in: "query", ...details[name], required: false, schema }),
    ),
    ...headers.map(([name, parameter]): OpenApiParameter => ({ name, ...parameter, required: false, schema: text })),
  ];
}

const errorDescriptions = {
  invalid: [400, "The request is invalid. The message contains the invalid field."],
  forbidden: [403, "The token, the role of the user, or the plan does not allow this operation."],
  notFound: [404, "No resource has this ID or name."],
  conflict: [409, "The resource exists already."],
  outdated: [412, "The resource has changed since the caller read it."],
  incomplete: [422, "All operations failed. The body also has the fields of a successful response."],
} as const;

const errorHeaders: ResponseHeaders = {
  "X-Request-Id": { description: "The ID of this request." },
  "X-Error-Code": { description: "The kind of error, for programs." },
  "X-Error-Message": { description: "The message in the body." },
};

function describeResponses(route: Route): Record<string, OpenApiResponse> {
  const { success, headers, redirect, errors, request, response } = route;
  const content = jsonContent(toJsonSchema(response));
  const found: [number, OpenApiResponse][] = errors.map((error) => {
    const [status, description] = errorDescriptions[error];
    return [status, describeErrorResponse(description)];
  });
  return Object.fromEntries([
    [200, { ...describeResponse({ description: success, headers }), content }],
    ...(redirect ? [[redirect.status ?? 302, describeResponse(redirect)] as const] : []),
    [401, describeErrorResponse("The token is missing or unknown.")],
    ...(request?.body
      ? ([
          [413, describeErrorResponse("The body is too large.")],
          [415, describeErrorResponse("The content type of the body is not application/json.")],
        ] as const)
      : []),
    ...found,
  ]);
}

interface ResponseDetails {
  description: string;
  headers?: ResponseHeaders | undefined;
}

function describeErrorResponse(description: string): OpenApiResponse {
  return { ...describeResponse({ description, headers: errorHeaders }), content: jsonContent(toJsonSchema(errorBody)) };
}

function describeResponse({ description, headers }: ResponseDetails): OpenApiResponse {
  if (!headers) return { description };
  const described = Object.entries(headers).map(([name, header]) => [name, { ...header, schema: { type: "string" } }]);
  return { description, headers: Object.fromEntries(described) };
}

function jsonContent(schema: JsonSchema): JsonContent {
  return { "application/json": { schema } };
}

export type JsonSchema = core.JSONSchema.BaseSchema;

export const errorBody = z.object({ error: z.string() });

const components: readonly ResourceApi["components"][] = [
  { Error: errorBody },
  ...resourceApis.map((api) => api.components),
];

const names = z.registry<{ id: string }>();
for (const [id, schema] of components.flatMap(Object.entries<z.ZodMiniType>)) names.add(schema, { id });

/** Components become references. Query parameters get their decoded types, because the encoded type is always string. */
function toJsonSchema(schema: core.$ZodType): JsonSchema {
  const id = names.get(schema)?.id;
  if (id !== undefined) return { $ref: componentPath(id) };
  const { $schema, $defs, ...converted } = convert(schema);
  const references: JsonSchema = JSON.parse(
    JSON.stringify(converted).replaceAll('"$ref":"#/$defs/', `"$ref":"${componentPath("")}`),
  );
  return references;
}

function propertySchemas(schema: core.$ZodType): Record<string, JsonSchema> {
  const entries = Object.entries(toJsonSchema(schema).properties ?? {});
  return Object.fromEntries(entries.map(([name, property]) => [name, typeof property === "boolean" ? {} : property]));
}

function componentSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(names, { uri: componentPath, metadata: names, override: applyRules });
  return Object.fromEntries(Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema] as const));
}

function convert(schema: core.$ZodType): JsonSchema {
  return z.toJSONSchema(schema, { metadata: names, override: applyRules });
}

function componentPath(id: string): string {
  return `#/components/schemas/${id}`;
}

/**
 * Changes a JSON Schema that zod created for the output, in which fields with defaults are required and objects have no
 * additional fields. The changed schema describes the input, but with the decoded types of the output.
 */
function applyRules({ zodSchema, jsonSchema }: { zodSchema: core.$ZodType; jsonSchema: JsonSchema }): void {
  if (zodSchema instanceof core.$ZodObject) {
    const { shape, catchall } = zodSchema._zod.def;
    const required = Object.keys(shape).filter((name) => shape[name]?._zod.optin === undefined);
    if (required.length > 0) jsonSchema.required = required;
    else delete jsonSchema.required;
    if (!catchall) delete jsonSchema.additionalProperties;
  }
  // zod's pattern only approximates `format: email`.
  if (zodSchema instanceof core.$ZodEmail) delete jsonSchema.pattern;
  // In JSON Schema, `readOnly` has another meaning.
  if (zodSchema instanceof core.$ZodReadonly) delete jsonSchema.readOnly;
  Object.assign(jsonSchema, findJsonRule(zodSchema));
}
