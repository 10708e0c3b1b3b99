import { expect, test } from "vitest";
import { serverUnusable } from "../../../src/inbox/bullmq/queue-server.ts";
import { hostileValues } from "../../support/hostile-values.ts";

const url = "redis://user:Planted-5ecret@host:6379/0";

test.each(Object.entries(hostileValues()))(
  "The error of a server that fails with %s contains no password",
  (_what, cause) => {
    const { code, message } = serverUnusable({ url, cause });
    expect(code).toBe("INBOX_UNUSABLE");
    expect(message).not.toContain("Planted");
  },
);
