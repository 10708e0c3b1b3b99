export { type OpenTunnelOptions, openTunnel, type Tunnel } from "./tunnel/tunnel.ts";
export type { TunnelEvents, TunnelListener } from "./tunnel/tunnel-events.ts";
