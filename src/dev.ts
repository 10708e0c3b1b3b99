export type { DevEndpoint, DevEvent, DevReady } from "./dev/dev-event.ts";
export type { StartDevOptions } from "./dev/dev-options.ts";
export { type DevSession, startDev } from "./dev/dev-session.ts";
export type { PassedDelivery, Replayed } from "./dev/passed-delivery.ts";
export type { HubConnection } from "./registration/hub-connection.ts";
export type { RegistrationReport } from "./registration/reconcile.ts";
export { type RegisterOptions, register } from "./registration/register.ts";
export type {
  CreateStep,
  DeleteStep,
  EnableStep,
  FieldChange,
  LeftAlone,
  RegistrationStep,
  UpdateStep,
} from "./registration/report.ts";
export type { FailedStep } from "./registration/step-runner.ts";
export { type OpenTunnelOptions, openTunnel, type ProviderName, type Tunnel } from "./tunnel/tunnel.ts";
export type { TunnelEvents, TunnelListener } from "./tunnel/tunnel-events.ts";
