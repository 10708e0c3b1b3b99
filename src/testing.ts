export { type DeepPartial, webhookPayload } from "./payload/samples.ts";
export { deliveryRequest, settled } from "./receiver/testing.ts";
