import type { DatabaseSync } from "node:sqlite";
import type { TransactionTarget } from "../../../src/inbox/sqlite/group-commit.ts";

/** What a group commit writes to, for a database of its own. */
export function transactionsOf(database: DatabaseSync): TransactionTarget {
  return {
    get isTransaction() {
      return database.isTransaction;
    },
    begin: () => database.exec("BEGIN IMMEDIATE"),
    commit: () => database.exec("COMMIT"),
    rollback: () => {
      if (database.isTransaction) database.exec("ROLLBACK");
    },
    afterFailure: () => {},
  };
}
