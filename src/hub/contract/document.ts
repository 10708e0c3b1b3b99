import { OpenAPIHono } from "@hono/zod-openapi";
import { webhookRoutes } from "./webhooks.ts";

/** The areas of the API, each with its routes: one more area is one more line. */
const areas = [
  { name: "webhooks", description: "What calls a URL or runs a job when a repository changes.", routes: webhookRoutes },
];

/** What {@link hubDocument} is made from. */
export interface HubDocumentOptions {
  /** The address that the paths are appended to, as in `http://localhost:5050`. */
  serverUrl: string;
}

/** An OpenAPI 3.1 document. */
export type HubDocument = ReturnType<OpenAPIHono["getOpenAPI31Document"]>;

/**
 * The OpenAPI 3.1 document of the contract: every operation, its parameters, bodies, answers and refusals. It is
 * made from the schemas that requests are checked with, anew at each call.
 *
 * @example
 * ```ts
 * app.get("/openapi.json", (context) => context.json(hubDocument({ serverUrl: "http://localhost:5050" })));
 * ```
 */
export function hubDocument({ serverUrl }: HubDocumentOptions): HubDocument {
  const { openAPIRegistry, getOpenAPI31Document } = new OpenAPIHono();
  openAPIRegistry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    description: "An access token; it begins with `hf_`.",
  });
  for (const { routes } of areas) for (const route of Object.values(routes)) openAPIRegistry.registerPath(route);

  const document = getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Hub API",
      version: "0.0.1",
      description: "The part of the Hub's REST API that the local Hub answers.",
    },
    servers: [{ url: serverUrl }],
    tags: areas.map(({ name, description }) => ({ name, description })),
  });
  // The generator leaves both behind, empty.
  delete document.webhooks;
  delete document.components?.parameters;
  return document;
}
