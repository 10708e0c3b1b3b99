export { WebhookError } from "./errors.ts";
export type { HubEvent } from "./local-hub/event-request.ts";
export type { HubDelivery } from "./local-hub/hub-delivery.ts";
export { LocalHub, type LocalHubOptions } from "./local-hub/local-hub.ts";
export type { LogEntry } from "./local-hub/log-entry.ts";
