import { openInboxDatabase } from "../../../src/inbox/sqlite/database.ts";

/** Says that it is ready, and makes an inbox where and when it is told: all that are told the same begin at once. */
process.stdout.write("ready\n");
process.stdin.setEncoding("utf8").once("data", (text: string) => {
  const { file, at }: { file: string; at: number } = JSON.parse(text);
  while (Date.now() < at);
  openInboxDatabase(file).close();
  process.exit();
});
