import { expect, test } from "vitest";
import type { ActivityWindow } from "../../../src/console/protocol/deliveries.ts";
import { activityHistory } from "../../../src/receiver/console/endpoints.ts";
import { Activity, EndpointActivity } from "../../../src/receiver/counts.ts";

const hour = 3_600_000;
const start = Date.UTC(2026, 8, 1, 12, 30);

/** Creates an activity whose clock the test sets. */
function begin() {
  const clock = { now: start };
  const endpoint = new EndpointActivity();
  const history = (window: ActivityWindow) => activityHistory(endpoint, { window, now: clock.now });
  return { clock, activity: new Activity(() => clock.now), endpoint, history };
}

test.for([
  ["15m", 15, 60_000],
  ["1h", 12, 300_000],
  ["24h", 24, hour],
] as const)("The activity of an endpoint divides %s into %i parts, oldest first", ([window, length, partMs]) => {
  const { clock, endpoint, history } = begin();
  endpoint.addArrival(clock.now);
  clock.now += (length - 1) * partMs;
  endpoint.addArrival(clock.now);
  const deliveries = () => history(window).map((part) => part.deliveries);
  expect(deliveries()).toEqual([1, ...Array(length - 2).fill(0), 1]);
  clock.now += partMs;
  expect(deliveries()).toEqual([...Array(length - 2).fill(0), 1, 0]);
});
