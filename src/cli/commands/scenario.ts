import { type Command, Option } from "commander";
import { defaultLocalHubUrl } from "../../core/urls.ts";
import { readJson } from "../input.ts";
import type { Invocation } from "../invocation.ts";
import { examples, helpHint, helpWithoutHubOptions } from "../usage.ts";

/** Adds `hub-webhooks scenario` and its subcommand. */
export function addScenario(program: Command, invocation: Invocation): void {
  const scenario = program
    .command("scenario")
    .configureHelp(helpWithoutHubOptions())
    .description("let things happen on a local Hub, as a JSON file lists them");
  scenario
    .command("run")
    .argument("<file>", 'JSON file ("-" for standard input), such as {"events": [{"repo": …, "event": …, "files": …}]}')
    .description("trigger the events of a file one after the other on a local Hub; fails unless every response is 2xx")
    .configureHelp(
      helpWithoutHubOptions(
        new Option("--hub-url <url>", `URL of the local Hub (default: as for trigger, ${defaultLocalHubUrl} at last)`),
      ),
    )
    .showHelpAfterError(helpHint("scenario", "run"))
    .addHelpText("after", examples("scenario run bad-csv.json"))
    .action((file: string) => runScenario(file, invocation));
}

async function runScenario(file: string, invocation: Invocation): Promise<void> {
  const { shell, output } = invocation;
  const content = await readJson({ option: "<file>", file, shell });
  const [{ LocalHubSender }, { deliveriesResult, isWithoutEffect, Tally }, { findLocalHub }, { parseScenario }] =
    await Promise.all([
      import("./trigger/local-hub-sender.ts"),
      import("./trigger/results.ts"),
      import("./trigger/run-trigger.ts"),
      import("../../local-hub/events/event-request.ts"),
    ]);
  const events = parseScenario(content);
  const hubUrl = await findLocalHub(invocation);
  const stop = new AbortController();
  void shell.untilStopped().then(() => stop.abort());
  const tally = new Tally({ keepAll: true });
  const advice = new Set<string>();
  for (const [index, event] of events.entries()) {
    const sender = await LocalHubSender.connect({ event, hubUrl });
    const { repo, event: what } = event;
    output.log(`${index + 1} of ${events.length}: ${what.scope} ${what.action} of ${repo.type}:${repo.name}`);
    const outcome = await sender.trigger(stop.signal).catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
      return undefined;
    });
    if (outcome === undefined) {
      output.log(`Stopped after ${index} of ${events.length} events.`);
      invocation.exitCode = 1;
      break;
    }
    for (const delivery of outcome.deliveries) tally.add(delivery);
    for (const line of sender.advise(outcome)) advice.add(line);
    if (isWithoutEffect(outcome) && !event.silent) output.log("  No webhook fired.");
  }
  output.printResult(deliveriesResult(tally.listed, { json: { events: events.length, deliveries: tally.listed } }));
  for (const line of advice) output.log(line);
  if (tally.failures > 0) invocation.exitCode = 1;
}
