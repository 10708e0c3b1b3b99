import { toShellWord } from "../../core/text.ts";
import { defaultPort } from "../../core/urls.ts";
import { developmentTokens } from "../accounts.ts";
import { triggerArguments } from "../trigger-arguments.ts";

const [{ token: defaultToken } = { token: "" }] = developmentTokens;

/** The command that creates a webhook. */
export function createCommand({ hubUrl }: { hubUrl: string }): string {
  return `HF_ENDPOINT=${toShellWord(hubUrl)} HF_TOKEN=${defaultToken} npx hub-webhooks create --url http://127.0.0.1:${defaultPort}/webhooks/hello --watch dataset:me/data`;
}

/** The command that triggers an event for a webhook. By default, for a repository that need not exist. */
export function triggerCommand(
  { hubUrl }: { hubUrl: string },
  {
    watched = [],
    domains = [],
  }: Partial<Pick<Parameters<typeof triggerArguments>[0], "watched">> & {
    domains?: readonly string[];
  } = {},
): string {
  const words = triggerArguments({ watched, scopes: domains });
  return `npx hub-webhooks trigger ${words.map(toShellWord).join(" ")} --hub-url ${toShellWord(hubUrl)}`;
}

/** The command that starts a local Hub that runs jobs. */
export const runJobsCommand = "npx hub-webhooks hub --run-jobs";
