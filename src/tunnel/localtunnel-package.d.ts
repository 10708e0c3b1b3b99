/** The package brings no types. This is the part of it that carries connections. */
declare module "localtunnel/lib/TunnelCluster.js" {
  import type { EventEmitter } from "node:events";
  import type { Socket } from "node:net";

  export default class TunnelCluster extends EventEmitter<{ open: [connection: Socket]; error: [error: Error] }> {
    constructor(options: { remote_host: string; remote_port: number; local_port: number });
    /** Starts one connection to the tunnel's server. */
    open(): void;
  }
}
