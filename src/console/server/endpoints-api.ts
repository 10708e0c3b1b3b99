import { type EndpointList, endpointRequest } from "../protocol/endpoints.ts";
import type { ConsoleResource } from "./console.ts";
import { readBody } from "./requests.ts";

/** The endpoints that a console shows, and their actions. */
export interface EndpointSource {
  list(): Promise<EndpointList>;
  /** Stops running the deliveries of a background endpoint. @throws `ENDPOINT_UNKNOWN`, `ARGUMENT_INVALID`. */
  pause(endpoint: string): Promise<void>;
  resume(endpoint: string): Promise<void>;
}

/** The routes of the endpoints. */
export function endpointsApi(source: EndpointSource): ConsoleResource {
  return (app) => {
    app.get("/endpoints", async (context) => context.json(await source.list()));
    app.post("/endpoints/pause", async (context) => {
      await source.pause((await readBody(context, endpointRequest)).endpoint);
      return context.json({});
    });
    app.post("/endpoints/resume", async (context) => {
      await source.resume((await readBody(context, endpointRequest)).endpoint);
      return context.json({});
    });
  };
}
