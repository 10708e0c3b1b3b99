import { expect, test } from "vitest";
import { explain } from "../../../src/receiver/checks/findings.ts";

const url = "https://bot.example";

test.each([
  ["SECRET_REFUSED", "on a Space", { space: "me/bot", url }, "npx hub-webhooks deploy rotate-secret me/bot"],
  ["SECRET_REFUSED", "elsewhere", { url }, `env WEBHOOK_SECRET=SECRET npx hub-webhooks doctor --url ${url}`],
  [
    ...(["SECRET_REFUSED", "elsewhere, of a file"] as const),
    { url, file: "my bot.ts" },
    `env WEBHOOK_SECRET=SECRET npx hub-webhooks doctor 'my bot.ts' --url ${url}`,
  ],
  ["TOKEN_INVALID", "on the Hub", {}, "hf auth login --force"],
  ["TOKEN_INVALID", "on a local Hub", { localToken: "hf_local" }, "export HF_TOKEN=hf_local"],
  ["SERVER_TOKEN_INVALID", "elsewhere", { url }, "env HF_TOKEN=TOKEN npm start"],
  ["ENDPOINT_NOT_SERVED", "elsewhere", { url }, "npm start"],
  ["INBOX_NOT_DURABLE", "elsewhere", { url }, "env INBOX_URL=sqlite:.hub-webhooks/inbox.db npm start"],
] as const)("The command of %s fits a server %s", (code, _where, values, command) => {
  expect(explain({ code, values }).command).toBe(command);
});
