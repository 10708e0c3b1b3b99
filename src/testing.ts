export { type DeepPartial, webhookPayload } from "./payload/samples.ts";
export { deliveryRequest, settled } from "./receiver/test-helpers.ts";
