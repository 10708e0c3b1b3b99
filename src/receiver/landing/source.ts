import type { Hono } from "hono";
import type { Activity } from "../activity.ts";
import type { Endpoint } from "../endpoint.ts";
import type { InboxCountsReader } from "../inbox-counts.ts";
import type { MountPoint } from "../mount-point.ts";
import type { LandingInfo } from "./info.ts";

/** What `GET /` answers: HTML, a Hono app, a function of what there is to tell, or `false` for nothing. */
export type LandingPage =
  | string
  | Hono
  | ((info: LandingInfo) => string | Response | Promise<string | Response>)
  | false;

/** What the landing page is made from. */
export interface LandingSource {
  /** Left out: the built-in page. */
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
