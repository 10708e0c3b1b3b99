import { dirname } from "node:path";
import { describeInboxContract } from "../contract.ts";
import { openers } from "../engines.ts";
import { inboxFile } from "../open-file.ts";

describeInboxContract({ name: "SQLite", emptyStore: () => dirname(inboxFile()), open: openers.SQLite });
