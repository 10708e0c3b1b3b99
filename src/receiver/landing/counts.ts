import type { LandingHour, LandingInfo, LandingOutcome } from "./info.ts";

/** The maximum number of times that the Hub triggers a webhook in 24 hours. */
export const hubDailyLimit = 1_000;

/** Whether an endpoint with this number of deliveries in 24 hours is near the Hub's limit. */
export function isNearDailyLimit(lastDay: number): boolean {
  return lastDay >= 0.8 * hubDailyLimit;
}

/** Returns the number of new deliveries to all endpoints in 24 hours. */
export function countDeliveries({ endpoints }: LandingInfo): number {
  return endpoints.reduce((total, { lastDay }) => total + lastDay, 0);
}

/** Returns the sum of the counts with an outcome over all hours. */
export function countOutcome(hours: readonly LandingHour[], outcome: LandingOutcome): number {
  return hours.reduce((total, hour) => total + hour[outcome], 0);
}

/** Formats a count for display. */
export function formatCount(count: number): string {
  return count.toLocaleString("en");
}
