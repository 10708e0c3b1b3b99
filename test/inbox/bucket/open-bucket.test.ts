import { expect, test } from "vitest";
import { openInbox } from "../../../src/inbox/open-inbox.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";

test("retries an unavailable bucket until the server stops", async () => {
  const variables: Record<string, string> = {
    AWS_ENDPOINT_URL_S3: "http://127.0.0.1:1",
    AWS_ACCESS_KEY_ID: "key",
    AWS_SECRET_ACCESS_KEY: "secret",
  };
  const log = createMemoryLogger();
  const stop = new AbortController();
  const opening = openInbox({
    url: "hf://buckets/me/inbox",
    log,
    now: Date.now,
    readVariable: (name) => variables[name],
    signal: stop.signal,
  });
  opening.catch(() => {});
  await waitFor(() => expect(log.lines).toMatchObject([{ level: "warn" }]));
  stop.abort();
  await expect(opening).rejects.toMatchObject({ name: "AbortError" });
});
