export { WebhookError } from "./core/errors.ts";
export type { Job, JobStage } from "./hub/jobs/schemas.ts";
export type { DeliveryFaults } from "./local-hub/delivery/faults.ts";
export type { HubDelivery, HubDeliveryAttempt } from "./local-hub/delivery/hub-delivery.ts";
export type { HubEvent, Scenario } from "./local-hub/events/event-request.ts";
export type { BucketConnection, BucketVariables } from "./local-hub/local-hub.ts";
export { LocalHub, type LocalHubOptions, type LocalSpace } from "./local-hub/local-hub.ts";
export type { BucketFault, BucketFaultSelection } from "./local-hub/s3/faults.ts";
