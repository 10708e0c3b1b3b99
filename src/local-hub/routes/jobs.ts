import type { OpenAPIHono } from "@hono/zod-openapi";
import { createRoute } from "@hono/zod-openapi";
import { jobOperations } from "../../hub/jobs.ts";
import { hardware } from "../jobs/hardware.ts";
import { type ApiEnvironment, createApiApp } from "./api.ts";
import { describeRoute, errorResponses, jsonResponse } from "./openapi.ts";

/** The routes of the operations, as the document describes them. */
export const jobRoutes = {
  hardware: createRoute({
    ...describeRoute(jobOperations.hardware),
    tags: ["jobs"],
    responses: { 200: jsonResponse("The hardware.", jobOperations.hardware.response), ...errorResponses.unauthorized },
  }),
} as const;

/** The operation on jobs. A job itself is started by a webhook, never by a request. */
export function jobApi(): OpenAPIHono<ApiEnvironment> {
  const app = createApiApp();
  app.openapi(jobRoutes.hardware, (context) => context.json([...hardware], 200));
  return app;
}
