import { quoteWord, shellWord } from "../../page/shell-word.ts";
import { developmentTokens } from "../accounts.ts";
import type { HubPageInfo, HubPageWebhook } from "./info.ts";

const [{ token: usualToken } = { token: "" }] = developmentTokens;

/** The command that makes a first webhook. */
export function createCommand({ baseUrl }: Pick<HubPageInfo, "baseUrl">): string {
  return commandLine(baseUrl, usualToken, [
    "create",
    "--url http://localhost:7860/webhooks/NAME",
    "--watch dataset:me/data",
  ]);
}

/** The command that brings a webhook back to work, with a token of its owner. */
export function enableCommand({ baseUrl, id, owner }: { baseUrl: string; id: string; owner: string }): string {
  const token = developmentTokens.find(({ user, tokenRole }) => user === owner && tokenRole === "write")?.token;
  return commandLine(baseUrl, token ?? usualToken, [`enable ${shellWord(id)}`]);
}

/** The command that lets something happen that the webhook watches. */
export function eventCommand({ baseUrl, webhook }: { baseUrl: string; webhook: HubPageWebhook }): string {
  const [first] = webhook.watched;
  const { type, name } = first ?? { type: "dataset", name: "me/data" };
  const isAccount = type === "user" || type === "org";
  const event = {
    repo: isAccount ? { type: "dataset", name: `${name}/data` } : { type, name },
    event: webhook.domains.includes("repo")
      ? { scope: "repo.content", action: "update" }
      : { scope: "discussion", action: "create" },
  };
  return [
    `curl ${quoteWord(`${baseUrl}/_local/events?wait=true`)}`,
    '--header "Content-Type: application/json"',
    `--data ${quoteWord(JSON.stringify(event, null, 1).replaceAll(/\n */g, " "))}`,
  ].join(" \\\n  ");
}

function commandLine(baseUrl: string, token: string, words: readonly string[]): string {
  const line = [`hub-webhooks ${words[0]}`, ...words.slice(1)].join(" \\\n  ");
  return `HF_ENDPOINT=${shellWord(baseUrl)} HF_TOKEN=${token} \\\n  ${line}`;
}
