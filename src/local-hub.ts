export { WebhookError } from "./core/errors.ts";
export type { Job, JobStage } from "./hub/contract/jobs.ts";
export type { HubDelivery } from "./local-hub/delivery/hub-delivery.ts";
export type { HubEvent } from "./local-hub/events/event-request.ts";
export { LocalHub, type LocalHubOptions } from "./local-hub/local-hub.ts";
export type { LogEntry } from "./local-hub/log-entry.ts";
