/** The types of the only imported module of the package, because the package does not publish types. */
declare module "localtunnel/lib/TunnelCluster.js" {
  import type { EventEmitter } from "node:events";
  import type { Socket } from "node:net";

  export default class TunnelCluster extends EventEmitter<{ open: [connection: Socket]; error: [error: Error] }> {
    constructor(options: { remote_host: string; remote_port: number; local_port: number });
    /** Opens one connection to the tunnel server. */
    open(): void;
  }
}
