import { dirname } from "node:path";
import { describeInboxContract } from "../contract.ts";
import { describeCrashContract } from "../crash-contract.ts";
import type { Engine } from "../engine.ts";
import { emptyInboxFile } from "../inbox-file.ts";
import { openers } from "../openers.ts";

const engine: Engine = { name: "SQLite", emptyStore: () => dirname(emptyInboxFile()), open: openers.SQLite };

describeInboxContract(engine);
describeCrashContract(engine);
