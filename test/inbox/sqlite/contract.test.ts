import { dirname } from "node:path";
import { describeInboxContract } from "../contract.ts";
import { describeCrashContract } from "../crash-contract.ts";
import type { Engine } from "../engine.ts";
import { inboxFile } from "../inbox-file.ts";
import { openers } from "../openers.ts";

const engine: Engine = { name: "SQLite", emptyStore: () => dirname(inboxFile()), open: openers.SQLite };

describeInboxContract(engine);
describeCrashContract(engine);
