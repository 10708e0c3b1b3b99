import { dirname } from "node:path";
import { test } from "vitest";
import { describeInboxContract } from "../contract.ts";
import { expectCrashesSurvived } from "../crash-contract.ts";
import type { Engine } from "../engine.ts";
import { emptyInboxFile } from "../inbox-file.ts";
import { openers } from "../openers.ts";

const engine: Engine = { name: "SQLite", emptyStore: () => dirname(emptyInboxFile()), open: openers.SQLite };

describeInboxContract(engine);
test("The delivery that causes crashes is dead after them, and the others run", { timeout: 150_000 }, () =>
  expectCrashesSurvived(engine),
);
