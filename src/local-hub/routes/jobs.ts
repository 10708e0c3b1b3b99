import type { OpenAPIHono } from "@hono/zod-openapi";
import { jobRoutes } from "../../hub/contract/jobs.ts";
import { hardware } from "../jobs/hardware.ts";
import { type ApiEnvironment, createApiApp } from "./api.ts";

/** The operation on jobs. A job itself is started by a webhook, never by a request. */
export function jobApi(): OpenAPIHono<ApiEnvironment> {
  const app = createApiApp();
  app.openapi(jobRoutes.hardware, (context) => context.json([...hardware], 200));
  return app;
}
