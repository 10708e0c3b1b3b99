import type { Hono } from "hono";
import { job, jobHardware, jobLabels, jobOperations } from "../../hub/jobs/schemas.ts";
import type { HubContext } from "../hub-context.ts";
import { hardware } from "../jobs/hardware.ts";
import { streamJobEvents, streamJobLogs } from "../jobs/job-streams.ts";
import { checkNamespace, findJob, findJobs, listJobs, toJob } from "../resources/jobs.ts";
import type { StoredJob } from "../store/job-store.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { describeRoute, type ResourceApi, serveRoute } from "./route.ts";

const jobRoutes = {
  hardware: describeRoute(jobOperations.hardware, {
    tag: "jobs",
    success: { description: "The hardware." },
    errors: [],
  }),
  run: describeRoute(jobOperations.run, {
    tag: "jobs",
    success: { description: "The job." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
  list: describeRoute(jobOperations.list, {
    tag: "jobs",
    success: {
      description: "A page of jobs, the newest first.",
      headers: { Link: { description: 'The URL of the next page, with rel="next".' } },
    },
    errors: ["invalid", "forbidden", "notFound"],
  }),
  count: describeRoute(jobOperations.count, {
    tag: "jobs",
    success: { description: "The number of jobs." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
  get: describeRoute(jobOperations.get, {
    tag: "jobs",
    success: { description: "The job." },
    errors: ["forbidden", "notFound"],
  }),
  logs: describeRoute(jobOperations.logs, {
    tag: "jobs",
    description:
      "A stream of server-sent events. The data of each event is `{timestamp, data}`, where `data` is a line.",
    parameters: { tail: { in: "query", description: "The maximum number of existing lines." } },
    success: { description: "The lines that the job has printed, and new lines until the job ends." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
  events: describeRoute(jobOperations.events, {
    tag: "jobs",
    description: "A stream of server-sent events. The data of each event is the job.",
    success: { description: "The job, and the job after each change of its status until the job ends." },
    errors: ["forbidden", "notFound"],
  }),
  cancel: describeRoute(jobOperations.cancel, {
    tag: "jobs",
    success: { description: "The canceled job. A finished job is unchanged." },
    errors: ["forbidden", "notFound"],
  }),
  setLabels: describeRoute(jobOperations.setLabels, {
    tag: "jobs",
    success: { description: "The job." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
} as const;

/**
 * Serves the operations on jobs (docs/reference/hub-api.md, Account and jobs). Users have access to their own jobs and to the jobs of
 * their organizations.
 */
export const jobApi = {
  routes: jobRoutes,
  components: { Job: job, JobHardware: jobHardware, JobLabels: jobLabels },
  serve(app: Hono<ApiEnvironment>, hub: Pick<HubContext, "store" | "jobs" | "hubUrl" | "now">) {
    const { store, jobs } = hub;
    const streamSource = { store: store.jobs, runner: jobs };
    const describe = (stored: StoredJob) => toJob(stored, hub);

    serveRoute(app, jobRoutes.hardware, () => [...hardware]);

    serveRoute(app, jobRoutes.run, ({ params: { namespace }, body }, context) => {
      const { caller } = context.var;
      checkNamespace(store, { namespace, caller, write: true });
      const { secrets = {}, ...definition } = body;
      return describe(jobs.run({ owner: namespace, createdBy: caller.user, definition, secrets }));
    });

    serveRoute(app, jobRoutes.list, ({ params: { namespace }, query }, context) => {
      checkNamespace(store, { namespace, caller: context.var.caller });
      const { jobs: page, next } = listJobs(store, { namespace, ...query });
      if (next !== undefined) {
        // The link has the host of the request, because clients do not follow links to another host.
        const url = new URL(context.req.url);
        url.searchParams.set("cursor", next);
        context.header("link", `<${url.href}>; rel="next"`);
      }
      return page.map(describe);
    });

    serveRoute(app, jobRoutes.count, ({ params: { namespace }, query }, context) => {
      checkNamespace(store, { namespace, caller: context.var.caller });
      return { count: findJobs(store, { namespace, ...query }).length };
    });

    serveRoute(app, jobRoutes.get, ({ params }, context) => {
      checkNamespace(store, { ...params, caller: context.var.caller });
      return describe(findJob(store, params));
    });

    serveRoute(app, jobRoutes.logs, ({ params, query: { tail } }, context) => {
      checkNamespace(store, { ...params, caller: context.var.caller });
      return eventStream(streamJobLogs(streamSource, { jobId: findJob(store, params).id, tail }));
    });

    serveRoute(app, jobRoutes.events, ({ params }, context) => {
      checkNamespace(store, { ...params, caller: context.var.caller });
      return eventStream(streamJobEvents(streamSource, { jobId: findJob(store, params).id, describe }));
    });

    serveRoute(app, jobRoutes.cancel, ({ params }, context) => {
      checkNamespace(store, { ...params, caller: context.var.caller, write: true });
      jobs.cancel(findJob(store, params).id);
      return describe(findJob(store, params));
    });

    serveRoute(app, jobRoutes.setLabels, ({ params, body: { labels } }, context) => {
      checkNamespace(store, { ...params, caller: context.var.caller, write: true });
      jobs.setLabels(findJob(store, params).id, labels);
      return describe(findJob(store, params));
    });
  },
} satisfies ResourceApi;

function eventStream(body: ReadableStream<Uint8Array>): Response {
  return new Response(body, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } });
}
