import { plainText } from "../../../core/terminal-text.ts";
import type { FieldChange, RegistrationReport, RegistrationStep } from "../../../registration/report.ts";
import type { Output } from "../../output.ts";

/** Writes what was done, or would be: as a diff for people, as JSON, or the ids alone. */
export function writeReport(output: Output, report: RegistrationReport, { dryRun }: { dryRun: boolean }): void {
  const steps = dryRun ? report.steps : report.done;
  if (output.isText) {
    const lines = [...steps.flatMap((step) => stepLines(output, step)), ...unchangedLine(report)];
    output.write([heading(report, { dryRun }), ...lines].join("\n"));
  } else {
    const failed = report.failed.map(({ step, error: { code, message } }) => ({ step, code, message }));
    const json = { ...report, dryRun, failed };
    output.result({ json, quiet: steps.flatMap(({ id }) => id ?? []), columns: [], rows: [] });
  }
  for (const { message } of report.skipped) output.say(`note: ${message}`);
  for (const { step, error } of report.failed) {
    output.say(`error: ${step.endpoint}: ${failedVerb[step.action]} failed. ${error.message}`);
  }
  if (report.failed.length > 0) output.say("What failed is tried again by the next run.");
}

const failedVerb: Readonly<Record<RegistrationStep["action"], string>> = {
  create: "creating its webhook",
  update: "updating its webhook",
  enable: "enabling its webhook",
  "re-enable": "enabling its webhook",
  delete: "deleting its webhook",
};

function heading({ hub, baseUrl, steps, failed }: RegistrationReport, { dryRun }: { dryRun: boolean }): string {
  const where = plainText(`${hub}, server ${baseUrl}`);
  if (steps.length === 0) return `Nothing to do on ${where}.`;
  if (dryRun) return `To be done on ${where}:`;
  return failed.length > 0 ? `Done on ${where}, but not all:` : `Done on ${where}:`;
}

const marks = {
  create: { mark: "+", color: "green" },
  update: { mark: "~", color: "yellow" },
  enable: { mark: "!", color: "yellow" },
  "re-enable": { mark: "!", color: "yellow" },
  delete: { mark: "-", color: "red" },
} as const;

function stepLines(output: Output, step: RegistrationStep): readonly string[] {
  const { mark, color } = marks[step.action];
  const [first, ...details] = [[step.endpoint, step.id].filter(Boolean).join("  "), ...detailsOf(step)];
  return [output.paint(plainText(`${mark} ${first}`), color), ...details.map((detail) => `    ${plainText(detail)}`)];
}

function detailsOf(step: RegistrationStep): readonly string[] {
  switch (step.action) {
    case "create":
      return [
        `url      ${step.url}`,
        `watched  ${step.watched.map(({ type, name }) => `${type}:${name}`).join(", ")}`,
        `domains  ${step.domains.join(", ")}`,
        `secret   ${step.secretIsSet ? "set" : "none"}`,
      ];
    case "update":
      return [...(step.isAdopted ? ["taken over: it was not made here"] : []), ...step.changes.map(changeLine)];
    case "enable":
      return [`enable: ${step.reason}`];
    case "re-enable":
      return [`enable again: ${step.reason}`, ...(step.remedy === undefined ? [] : [step.remedy])];
    case "delete":
      return [`delete: ${step.reason}`];
  }
}

function changeLine(change: FieldChange): string {
  const field = change.field.padEnd("watched".length);
  return change.field === "secret" ? `${field}  ${change.change}` : `${field}  ${change.before} -> ${change.after}`;
}

function unchangedLine({ unchanged }: RegistrationReport): readonly string[] {
  return unchanged.length === 0 ? [] : [`= ${unchanged.length} unchanged`];
}
