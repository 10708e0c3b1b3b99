import { Hono } from "hono";
import { jobOperations } from "../../hub/jobs.ts";
import { hardware } from "../jobs/hardware.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { describeRoute, serveRoute } from "./route.ts";

export const jobRoutes = {
  hardware: describeRoute(jobOperations.hardware, {
    tag: "jobs",
    success: { description: "The hardware." },
    errors: [],
  }),
} as const;

/** Serves the hardware for jobs. Only webhooks start jobs. */
export function jobApi(): Hono<ApiEnvironment> {
  const app = new Hono<ApiEnvironment>();
  serveRoute(app, jobRoutes.hardware, () => [...hardware]);
  return app;
}
