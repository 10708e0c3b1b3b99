import type { Hono } from "hono";
import type { InboxCountsReader } from "../background/inbox-counts.ts";
import type { Activity } from "../endpoint/activity.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { MountPoint } from "../routes/mount-point.ts";
import type { LandingInfo } from "./info.ts";

/** The landing page at `GET /`: HTML, a Hono app, a function that returns HTML or a response, or `false` for none. */
export type LandingPage =
  | string
  | Hono
  | ((info: LandingInfo) => string | Response | Promise<string | Response>)
  | false;

/** The parts of the server from which the landing page is rendered. */
export interface LandingSource {
  /** `undefined`: the built-in page. */
  page: LandingPage | undefined;
  endpoints: ReadonlyMap<string, Endpoint>;
  secretIsSet: (bindings: unknown) => boolean;
  activity: Activity;
  inbox: InboxCountsReader;
  /** Milliseconds since the epoch. */
  now: () => number;
  mountPoint: MountPoint;
  /** The addresses of the server; `undefined` while it does not listen. */
  launchedServer: () => { url: string; publicUrl: string } | undefined;
}
