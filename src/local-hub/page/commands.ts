import { toShellWord } from "../../core/escape.ts";
import { developmentTokens } from "../accounts.ts";
import { triggerArguments } from "../trigger-arguments.ts";
import type { HubPageInfo, HubPageWebhook } from "./info.ts";

const [{ token: usualToken } = { token: "" }] = developmentTokens;

/** The command that makes a first webhook. */
export function createCommand({ hubUrl }: Pick<HubPageInfo, "hubUrl">): string {
  return commandLine(hubUrl, usualToken, [
    "create",
    "--url http://localhost:7860/webhooks/NAME",
    "--watch dataset:me/data",
  ]);
}

/** The command that brings a webhook back to work, with a token of its owner. */
export function enableCommand({ hubUrl, id, owner }: { hubUrl: string; id: string; owner: string }): string {
  const token = developmentTokens.find(({ user, tokenRole }) => user === owner && tokenRole === "write")?.token;
  return commandLine(hubUrl, token ?? usualToken, [`enable ${toShellWord(id)}`]);
}

/** The command that lets something happen that the webhook watches. */
export function eventCommand({ hubUrl, webhook }: { hubUrl: string; webhook: HubPageWebhook }): string {
  const words = triggerArguments({ watched: webhook.watched, scopes: webhook.domains });
  return `HF_ENDPOINT=${toShellWord(hubUrl)} \\\n  hub-webhooks trigger ${words.map(toShellWord).join(" ")}`;
}

function commandLine(hubUrl: string, token: string, words: readonly string[]): string {
  const line = [`hub-webhooks ${words[0]}`, ...words.slice(1)].join(" \\\n  ");
  return `HF_ENDPOINT=${toShellWord(hubUrl)} HF_TOKEN=${token} \\\n  ${line}`;
}
