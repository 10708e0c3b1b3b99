import { WebhookError } from "../core/errors.ts";
import { maskUrl } from "../core/urls.ts";
import { checks, type DoctorOptions, Facts, type Outcome, toFinding } from "./checks.ts";
import { explain, type Finding, type FindingCode } from "./findings.ts";

/** The result of one check. A check has one result for each finding. */
export interface CheckResult {
  check: string;
  title: string;
  status: "ok" | "problem" | "fixed" | "skipped";
  code?: FindingCode;
  /** The cause and its details, why it is fine, or why it was skipped. Never contains a secret. */
  message: string;
  command?: string;
}

/**
 * Checks a server and its webhooks, from outside and, with its console token, from inside. Yields each result as soon as it is known. With
 * `confirm`, repairs what can be repaired, and checks it again. Skips a check that needs another one which found a problem.
 *
 * @throws `STATE_UNUSABLE`, `OPTION_INVALID`, and the signal's abort reason. Errors of the Hub and of the server are results.
 */
export async function* runDoctor(options: DoctorOptions): AsyncGenerator<CheckResult, void> {
  const { client, space, file } = options;
  let facts = new Facts(options);
  const blocked = new Set<string>();
  for (const [check, { title, needs, run }] of Object.entries(checks)) {
    const blocker = check === "space" && space === undefined ? undefined : needs.find((name) => blocked.has(name));
    const attempt = async (): Promise<Outcome> => {
      if (blocker !== undefined) return { skipped: `It needs "${checks[blocker]?.title}", which has a problem.` };
      return run(facts).catch((error: unknown) => {
        const finding = toFinding(error);
        // The Hub fails for all checks, but is a problem once.
        if (finding.code !== "SERVER_FILE_INVALID") blocked.add("hub");
        return [finding];
      });
    };
    const before = await attempt();
    const repaired = await repairAll(findingsOf(before), options);
    if (repaired.size > 0) facts = new Facts(options, facts);
    const after = repaired.size > 0 ? await attempt() : before;
    const remaining = findingsOf(after);
    if (blocker !== undefined || remaining.length > 0) blocked.add(check);
    const fixed = findingsOf(before).filter(({ code }) => !remaining.some((finding) => finding.code === code));
    for (const finding of [...fixed, ...remaining]) {
      const status = remaining.includes(finding) ? "problem" : "fixed";
      const url = (await facts.url().catch(() => "")) || undefined;
      const values = { hub: client.hubUrl, space, file, url, ...finding.values };
      const { message, command } = explain({ ...finding, values });
      const failure = repaired.get(finding.repair?.question ?? "");
      const text = failure === undefined ? message : `${message} The repair failed: ${failure}`;
      yield { check, title, status, code: finding.code, message: maskUrl(text), command };
    }
    if (typeof after === "string" && fixed.length === 0) yield { check, title, status: "ok", message: after };
    if (typeof after === "object" && "skipped" in after)
      yield { check, title, status: "skipped", message: after.skipped };
  }
}

/** Counts results in one line. */
export function summarize(results: readonly CheckResult[]): string {
  const count = (wanted: CheckResult["status"]) => results.filter(({ status }) => status === wanted).length;
  return `${count("ok")} passed, ${count("fixed")} fixed, ${count("skipped")} skipped, ${count("problem")} problems`;
}

function findingsOf(outcome: Outcome): readonly Finding[] {
  return typeof outcome === "string" || "skipped" in outcome ? [] : outcome;
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
