import { join, resolve } from "node:path";
import type { CheckResult } from "../../console/protocol/checks.ts";
import { packageVersion } from "../../core/files.ts";
import { plainText } from "../../core/terminal.ts";
import { toShellWord } from "../../core/text.ts";
import { readBaseUrl } from "../../core/urls.ts";
import { confirm, requireConfirmable } from "../input.ts";
import type { Invocation, Output } from "../invocation.ts";
import { type CliCommand, usageError } from "../usage.ts";

type DoctorCommandOptions = { url?: string; space?: string; fix?: boolean; state?: string; folder: string };

export function addDoctor(program: CliCommand, invocation: Invocation): void {
  program
    .command("doctor")
    .argument("[file]", "file that creates the server (default: like sync)")
    .description("check a server, its Space, and its webhooks, and repair what can be repaired")
    .option("--url <url>", "public URL of the server, instead of --space")
    .option("--space <name>", "the Space, as owner/name (default: the one of the last deployment from this folder)")
    .option("--fix", "repair the problems; prompts for each repair unless --yes is given")
    .option("--state <file>", "file that records the webhooks (default: .hub-webhooks/registrations.json)")
    .option("--folder <path>", "folder of the project", ".")
    .examples("doctor", "doctor --space me/my-bot --fix", "doctor --url https://bot.example.com")
    .action((file: string | undefined, options: DoctorCommandOptions) => doctor(invocation, file, options));
}

async function doctor(invocation: Invocation, file: string | undefined, options: DoctorCommandOptions): Promise<void> {
  const { output, shell, skipsPrompts } = invocation;
  const { findDeployedSpace } = await import("../../deploy/remote-space.ts");
  const folder = resolve(options.folder);
  const url = options.url === undefined ? undefined : readBaseUrl(options.url);
  const space = options.url === undefined ? (options.space ?? (await findDeployedSpace(folder))) : options.space;
  if ((url === undefined) === (space === undefined) || !/^[^/]+\/[^/]+$/.test(space ?? "me/bot"))
    throw usageError("Which server? Add either --url https://bot.example.com or --space me/my-bot.");
  if (options.fix) requireConfirmable(invocation, "doctor --fix");
  const { openEnvironmentFile } = await import("../../deploy/project.ts");
  const { runDoctor, summarize } = await import("../../doctor/doctor.ts");
  const { findServerFile } = await import("../../server-file/find-server-file.ts");
  const { describeServerFile } = await import("../../server-file/server-process.ts");
  const environment = await openEnvironmentFile(join(folder, ".env"));
  const read = (name: string) => shell.env[name] || environment.get(name);
  const { hubUrl } = invocation.hubOptions;
  const enter = options.folder === "." ? "" : `cd ${toShellWord(options.folder)} && `;
  const atHub = hubUrl === undefined ? "" : ` --hub-url ${toShellWord(hubUrl)}`;
  const results: CheckResult[] = [];
  for await (const found of runDoctor({
    ...{ client: await invocation.connect(), url, space, file, version: packageVersion() },
    ...{ secret: read("WEBHOOK_SECRET"), consoleToken: read("CONSOLE_TOKEN") },
    state: options.state ?? join(folder, ".hub-webhooks/registrations.json"),
    describe: async () => describeServerFile(findServerFile({ file, folder })),
    confirm: options.fix ? async (question) => skipsPrompts || confirm(shell, question) : undefined,
  })) {
    // The command works where it is pasted: in the folder in which doctor runs.
    const command = found.command
      ?.replace(/^.*\bnp[mx] .*$/, (text) => `${enter}${text}`)
      .replace(/npx hub-webhooks .*$/, (text) => `${text}${atHub}`);
    const result = { ...found, ...(command !== undefined && { command }) };
    results.push(result);
    output.print(output.isText ? format(output, result) : JSON.stringify(result));
    if (result.status === "problem") invocation.exitCode = 1;
  }
  if (output.isText) output.print(`\n${summarize(results)}`);
}

const marks = { ok: "✓", fixed: "✓", problem: "✗", next: "→", skipped: "-" } as const;
const colors = { ok: "green", fixed: "green", problem: "red", next: "yellow", skipped: "yellow" } as const;

function format(output: Output, { title, status, code, message, command }: CheckResult): string {
  const text = [code, status === "fixed" && "(fixed)", message].filter(Boolean).join(" ");
  const line = output.colorize(plainText(`${marks[status]} ${title.padEnd(23)} ${text}`), colors[status]);
  return status === "problem" || status === "next" ? `${line}\n${" ".repeat(26)}$ ${plainText(command ?? "")}` : line;
}
