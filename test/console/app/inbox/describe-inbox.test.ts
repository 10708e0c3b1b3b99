import { describe, expect, test } from "vitest";
import { describeDetails, describeRetention } from "../../../../src/console/app/inbox/inbox-view.tsx";
import type { InboxEndpoint } from "../../../../src/console/protocol/inbox.ts";

const day = 24 * 3_600_000;
const endpoint: InboxEndpoint = {
  ...{ name: "retrain", isServed: true, isPaused: false },
  counts: { queued: 0, running: 0, dead: 0, succeeded: 0, ignored: 0, cancelled: 0 },
};

describe("The text about", () => {
  test("the details names the option that turns them off", () => {
    expect(describeDetails(true)).not.toContain("recordDetails");
    expect(describeDetails(false)).toContain("recordDetails");
  });

  test("the retention contains how long an ID is kept", () => {
    const described = describeRetention({ ...endpoint, retentionMs: 3 * day, idRetentionMs: 7 * day });
    expect(described).toEqual({ text: "3 d", title: expect.stringMatching(/3 d .* 7 d/) });
  });

  test("the retention of an endpoint of another server is missing", () => {
    expect(describeRetention(endpoint)).toBeUndefined();
  });
});
