import type { Hono } from "hono";
import { jobHardware, jobOperations } from "../../hub/jobs.ts";
import { hardware } from "../jobs/hardware.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { describeRoute, type ResourceApi, serveRoute } from "./route.ts";

const jobRoutes = {
  hardware: describeRoute(jobOperations.hardware, {
    tag: "jobs",
    success: { description: "The hardware." },
    errors: [],
  }),
} as const;

/** Serves the hardware for jobs. The API does not start jobs, because only webhooks start jobs on the local Hub. */
export const jobApi = {
  routes: jobRoutes,
  components: { JobHardware: jobHardware },
  serve(app: Hono<ApiEnvironment>) {
    serveRoute(app, jobRoutes.hardware, () => [...hardware]);
  },
} satisfies ResourceApi;
