import { quoteShellWord, toShellWord } from "../../../core/text.ts";

/**
 * Writes a curl command that sends a payload to an endpoint. The secret stays a shell variable, so that the copied text
 * contains none.
 *
 * @param options.hasSecret whether the endpoint checks a secret. Default `true`.
 */
export function toCurl({ url, body, hasSecret = true }: { url: string; body: string; hasSecret?: boolean }): string {
  return [
    `curl ${toShellWord(url)}`,
    "--header 'Content-Type: application/json'",
    ...(hasSecret ? ['--header "X-Webhook-Secret: $WEBHOOK_SECRET"'] : []),
    `--data-raw ${quoteShellWord(body)}`,
  ].join(" \\\n  ");
}
