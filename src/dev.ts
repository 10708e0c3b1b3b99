export type { DevEndpoint, DevEvent, DevState, ProxiedDelivery, ReplayResult } from "./dev/dev-event.ts";
export type { StartDevOptions } from "./dev/dev-options.ts";
export type { DevSession } from "./dev/dev-session.ts";
export { startDev } from "./dev/dev-session.ts";
export type { ProviderName } from "./tunnel/provider.ts";
export type { TunnelEventListener as TunnelListener, TunnelEvents } from "./tunnel/reconnecting-tunnel.ts";
export { type OpenTunnelOptions, openTunnel, type Tunnel } from "./tunnel/tunnel.ts";
