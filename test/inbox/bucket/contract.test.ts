// @module-tag slow

import { afterAll } from "vitest";
import { BucketReader } from "../../../src/inbox/bucket/bucket-reader.ts";
import { LocalHub } from "../../../src/local-hub.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { describeInboxContract } from "../contract.ts";
import { describeCrashContract } from "../crash-contract.ts";
import type { Engine } from "../engine.ts";
import { openers, openTestBucket } from "../openers.ts";

const hub = await LocalHub.launch();
afterAll(() => hub.close());
let buckets = 0;

const engine: Engine = {
  name: "Bucket",
  emptyStore: () => {
    buckets += 1;
    return JSON.stringify(hub.createBucket(`local-user/inbox-${buckets}`));
  },
  open: openers.Bucket,
  openReader: async (store) => BucketReader.open({ store: await openTestBucket(store), log: createMemoryLogger() }),
};

describeInboxContract(engine);
describeCrashContract(engine);
