import { openInboxDatabase } from "../../../src/inbox/sqlite/database.ts";

/* Prints "ready", reads a path and a time, creates an inbox at that time, simultaneously with other processes, and repeats this. */
process.stdout.write("ready\n");
process.stdin.setEncoding("utf8").on("data", (text: string) => {
  const { file, at }: { file: string; at: number } = JSON.parse(text);
  while (Date.now() < at);
  openInboxDatabase(file).close();
  process.stdout.write("ready\n");
});
