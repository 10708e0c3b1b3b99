import type { Duration } from "../core/duration.ts";
import type { Watch } from "../payload/watch.ts";
import type { OpenTunnelOptions } from "../tunnel/tunnel.ts";
import type { DevEvent } from "./dev-event.ts";

/** How to start a session. */
export interface StartDevOptions {
  /** The file that makes the server. Default: `server.ts`, `src/server.ts`, `app.ts` and the like, whichever is there. */
  file?: string;
  /**
   * Where webhooks are registered: on a local Hub that is started for the session (`"local"`, the default), which needs
   * no account and no internet, or on the one that `HF_ENDPOINT` names (`"real"`), through a tunnel.
   */
  hub?: "local" | "real";
  /** Port of the server on this machine. Default 7860, or the next free port. */
  port?: number;
  /** Port of the local Hub. Default 5050, or the next free port. */
  hubPort?: number;
  /**
   * URL of the inbox for the session, in place of `INBOX_URL` and of a URL in the server's options: a session must not
   * run the queued deliveries of a deployed server. Default `sqlite:./.hub-webhooks/dev.db`, or
   * `dev-<port>.db` at a port other than 7860.
   */
  inbox?: string;
  /** The tunnel. Default: `{}` for the real Hub, `false` for the local one, which delivers on this machine. */
  tunnel?: false | Pick<OpenTunnelOptions, "provider" | "host" | "subdomain" | "timeout" | "heartbeat">;
  /** An address of your own that leads to `port`, in place of a tunnel. */
  publicUrl?: string;
  /**
   * What to watch for endpoints that do not say. Default on the local Hub: what their filter names, else all that
   * belongs to `local-user`; on the real Hub nothing.
   */
  watch?: readonly Watch[];
  /** The token for the real Hub. Default: see `HubClient`. */
  token?: string;
  /** The address of the real Hub. Default `HF_ENDPOINT`, else `https://huggingface.co`. */
  endpoint?: string;
  /**
   * The file that tells which webhooks on the real Hub are to be deleted later on. Default
   * `.hub-webhooks/registrations.json`.
   */
  state?: string;
  /** Whether a file that does not load at the start is waited for until it is mended. Default `false`: it rejects. */
  waitsForFile?: boolean;
  /** How often the webhooks are looked after, should somebody change or suspend them. Default `"1m"`. */
  repairInterval?: Duration;
  /** Told of everything that happens. A listener that throws ends nothing. */
  onEvent?: (event: DevEvent) => void;
  /** Ends the session, also one that is starting. */
  signal?: AbortSignal;
}
