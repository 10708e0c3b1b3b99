import type { CheckResult } from "../console/protocol/checks.ts";
import { WebhookError } from "../core/errors.ts";
import { isOnThisMachine } from "../core/urls.ts";
import { runChecks } from "../receiver/checks/checks.ts";
import type { Finding } from "../receiver/checks/findings.ts";
import { checks, type DoctorOptions, Facts } from "./checks.ts";

/**
 * Checks a server and its webhooks, from outside and, with its console token, from inside. Yields each result as soon as it is known. With
 * `confirm`, repairs what can be repaired, and checks it again. Skips a check that needs another one which found a problem.
 *
 * @throws `STATE_UNUSABLE`, `OPTION_INVALID`, and the signal's abort reason. Errors of the Hub and of the server are results.
 */
export function runDoctor(options: DoctorOptions): AsyncGenerator<CheckResult, void> {
  const { client, space, file } = options;
  const localToken = isOnThisMachine(new URL(client.hubUrl).hostname) ? "hf_local" : undefined;
  return runChecks({
    checks: space === undefined ? { ...checks, space: { ...checks.space, needs: [] } } : checks,
    facts: new Facts(options),
    async valuesOf(facts) {
      const url = (await facts.url().catch(() => "")) || undefined;
      return { hub: client.hubUrl, localToken, space, file, url };
    },
    repair: (findings) => repairAll(findings, options),
    renew: (facts) => new Facts(options, facts),
  });
}

/** Counts results in one line. */
export function summarize(results: readonly CheckResult[]): string {
  const count = (wanted: CheckResult["status"]) => results.filter(({ status }) => status === wanted).length;
  const plural = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  const steps = count("next") > 0 ? `, ${plural(count("next"), "next step")}` : "";
  const passed = `${count("ok")} passed, ${count("fixed")} fixed, ${count("skipped")} skipped`;
  return `${passed}${steps}, ${plural(count("problem"), "problem")}`;
}

/** Runs the confirmed repairs, each once. Returns why each failed, or `undefined`, by its question. */
async function repairAll(findings: readonly Finding[], { confirm }: DoctorOptions) {
  const repaired = new Map<string, string | undefined>();
  for (const { question, run } of new Set(findings.flatMap(({ repair }) => repair ?? []))) {
    if (!(await confirm?.(question))) continue;
    repaired.set(question, undefined);
    await run().catch((error: unknown) => {
      if (!WebhookError.isInstance(error)) throw error;
      repaired.set(question, error.message);
    });
  }
  return repaired;
}
