import { expect, test } from "vitest";
import { describeReplay } from "../../../../src/console/app/deliveries/deliveries-view.tsx";

const nothing = { replayed: 0, failed: 0, failures: [], isMore: false };
const gone = { code: "DELIVERY_UNKNOWN", error: "It is gone.", count: 2 };
const down = { code: "INBOX_UNAVAILABLE", error: "The inbox is down.", count: 1 };

test("Replays without failures link to the queued deliveries of the filter", () => {
  expect(describeReplay({ ...nothing, replayed: 3 }, { endpoint: "retrain", status: "dead" })).toEqual({
    kind: "done",
    text: "3 deliveries are queued again.",
    link: { hash: "#/deliveries?endpoint=retrain&status=queued,running", label: "Show queued" },
  });
});

test("Failed replays are counted with their reason", () => {
  expect(describeReplay({ ...nothing, failed: 2, failures: [gone] }, {})).toEqual({
    kind: "failed",
    text: "2 deliveries could not be replayed. It is gone.",
  });
});

test("Each reason is counted if there are several", () => {
  const result = { replayed: 1, failed: 3, failures: [gone, down], isMore: true };
  expect(describeReplay(result, {})).toMatchObject({
    kind: "failed",
    text: "1 delivery is queued again. 3 deliveries could not be replayed. 2 deliveries: It is gone. 1 delivery: The inbox is down. More are dead: replay again.",
    link: { label: "Show queued" },
  });
});
