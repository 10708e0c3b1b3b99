/** Types for the only module of the package that is used. The package includes no types. */
declare module "localtunnel/lib/TunnelCluster.js" {
  import type { EventEmitter } from "node:events";
  import type { Socket } from "node:net";

  export default class TunnelCluster extends EventEmitter<{ open: [connection: Socket]; error: [error: Error] }> {
    constructor(options: { remote_host: string; remote_port: number; local_port: number });
    /** Opens one connection to the tunnel server. */
    open(): void;
  }
}
