import type { Context } from "hono";
import { type SpaceRuntime, spaceOperations, spaceRuntime } from "../../hub/spaces.ts";
import { invalidRequest } from "../error-response.ts";
import { eventStream, streamEvents, toLine } from "../jobs/event-stream.ts";
import { hardware } from "../jobs/hardware.ts";
import { findRepository } from "../routes/repository-access.ts";
import { type ApiEnvironment, describeRoutes, type ResourceApi, serveRoute } from "../routes/route.ts";
import type { StoredSpace } from "../store/records.ts";
import type { StoredRepository } from "../store/repository-store.ts";

const write = { token: "write" } as const;
const streamed = "A stream of server-sent events.";

const spaceRoutes = describeRoutes(spaceOperations, "spaces", {
  hardware: { token: "optional", success: "The hardware." },
  runtime: { token: "optional", success: "The runtime." },
  listSecrets: { ...write, success: "The names of the secrets, without their values." },
  setSecret: { success: "The secret was set. A Space that runs restarts." },
  deleteSecret: { success: "The secret was deleted. A Space that runs restarts." },
  listVariables: { ...write, success: "The variables." },
  setVariable: { success: "The variables. A Space that runs restarts." },
  deleteVariable: { success: "The variables. A Space that runs restarts." },
  requestHardware: { success: "The runtime." },
  setSleepTime: { success: "The runtime." },
  pause: { success: "The runtime. The Space does not run until it is restarted." },
  restart: { success: "The runtime. The files that the Space wrote are lost." },
  logs: {
    ...write,
    description: `${streamed} The data of each event is \`{timestamp, data}\`, where \`data\` is a line.`,
    parameters: { tail: { in: "query", description: "The maximum number of existing lines." } },
    success: "The lines of the log, and new lines.",
  },
  events: {
    ...write,
    description: `${streamed} The data of each event is the runtime.`,
    success: "The runtime, and each change.",
  },
});

/** Serves the operations on Spaces, which run as local processes if the local Hub is launched with `runSpaces`. */
export const spaceApi = {
  routes: spaceRoutes,
  components: { SpaceRuntime: spaceRuntime },
  serve(app, hub) {
    const { spaces, now } = hub;
    type Name = { namespace: string; repo: string };
    const find = (
      name: Name,
      { var: { optionalCaller } }: Context<ApiEnvironment>,
      access: "read" | "write" = "write",
    ) => findRepository(hub, { repoType: "spaces", ...name }, optionalCaller, access);
    const variablesOf = (space: StoredRepository) => mapEntries(spaces.settings(space).variables, dated);
    const set = (
      space: StoredRepository,
      kind: "secrets" | "variables",
      { key, ...entry }: { key: string; value: string; description?: string | undefined },
    ) => {
      const { [kind]: entries } = spaces.settings(space);
      spaces.change(space, { [kind]: { ...entries, [key]: { ...entry, updatedAt: now() } } });
    };
    const remove = (space: StoredRepository, kind: "secrets" | "variables", key: string) => {
      const { [key]: _removed, ...entries } = spaces.settings(space)[kind];
      spaces.change(space, { [kind]: entries });
    };

    serveRoute(app, spaceRoutes.hardware, () => [...hardware]);
    serveRoute(app, spaceRoutes.runtime, ({ params }, context) => spaces.runtime(find(params, context, "read")));

    serveRoute(app, spaceRoutes.listSecrets, ({ params }, context) =>
      mapEntries(spaces.settings(find(params, context)).secrets, (secret) => {
        const { value: _hidden, ...shown } = dated(secret);
        return shown;
      }),
    );
    serveRoute(app, spaceRoutes.setSecret, ({ params, body }, context) => set(find(params, context), "secrets", body));
    serveRoute(app, spaceRoutes.deleteSecret, ({ params, body: { key } }, context) =>
      remove(find(params, context), "secrets", key),
    );

    serveRoute(app, spaceRoutes.listVariables, ({ params }, context) => variablesOf(find(params, context)));
    serveRoute(app, spaceRoutes.setVariable, ({ params, body }, context) => {
      const space = find(params, context);
      set(space, "variables", body);
      return variablesOf(space);
    });
    serveRoute(app, spaceRoutes.deleteVariable, ({ params, body: { key } }, context) => {
      const space = find(params, context);
      remove(space, "variables", key);
      return variablesOf(space);
    });

    /** Makes a change, and returns the runtime after it. */
    const act = (name: Name, context: Context<ApiEnvironment>, change: (space: StoredRepository) => void) => {
      const space = find(name, context);
      change(space);
      return spaces.runtime(space);
    };
    serveRoute(app, spaceRoutes.requestHardware, ({ params, body: { flavor, sleepTimeSeconds } }, context) => {
      const space = find(params, context);
      if (!hardware.some(({ name }) => name === flavor))
        throw invalidRequest(["flavor: expected the name of a hardware"]);
      const sleepSeconds = sleepTimeSeconds ?? spaces.settings(space).sleepSeconds;
      spaces.change(space, { hardware: flavor, sleepSeconds });
      return spaces.runtime(space);
    });
    serveRoute(app, spaceRoutes.setSleepTime, ({ params, body: { seconds } }, context) =>
      act(params, context, (space) => spaces.change(space, { sleepSeconds: seconds })),
    );
    serveRoute(app, spaceRoutes.pause, ({ params }, context) => act(params, context, (space) => spaces.pause(space)));
    serveRoute(app, spaceRoutes.restart, ({ params }, context) =>
      act(params, context, (space) => spaces.restart(space)),
    );

    serveRoute(app, spaceRoutes.logs, ({ params: { logType, ...name }, query: { tail } }, context) => {
      const space = find(name, context);
      const log = spaces.find(space)?.[logType];
      let after = Math.max(0, (log?.length ?? 0) - (tail ?? Number.POSITIVE_INFINITY));
      const read = () => {
        const lines = log?.after(after) ?? [];
        after = log?.length ?? 0;
        return lines.map(toLine);
      };
      return eventStream(streamEvents({ ...sourceOf(space), read }));
    });

    serveRoute(app, spaceRoutes.events, ({ params }, context) => {
      const space = find(params, context);
      let latest = "";
      const read = (): SpaceRuntime[] => {
        const runtime = spaces.runtime(space);
        const text = JSON.stringify(runtime);
        if (text === latest) return [];
        latest = text;
        return [runtime];
      };
      return eventStream(streamEvents({ ...sourceOf(space), read }));
    });

    /** A stream of a Space that this local Hub does not run ends at once. */
    function sourceOf(space: StoredRepository) {
      return { nextChange: () => spaces.changes.next(space.id), isActive: () => spaces.find(space) !== undefined };
    }
  },
} satisfies ResourceApi;

type Entry = StoredSpace["variables"][string];

function dated({ updatedAt, ...entry }: Entry) {
  return { ...entry, updatedAt: new Date(updatedAt).toISOString() };
}

function mapEntries<Mapped>(entries: StoredSpace["variables"], map: (entry: Entry) => Mapped): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(entries).map(([key, entry]) => [key, map(entry)]));
}
