import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  payloadState,
  type RecordedScenario,
  type RecordingState,
  type ScenarioList,
  type ScenarioSteps,
  type StepResult,
  scenarioKey,
  scenarioStep,
  type TestState,
} from "../../console/protocol/send.ts";
import { badRequest, type ConsoleResource, readBody, readQuery } from "../../console/server/api.ts";
import { WebhookError } from "../../core/errors.ts";
import { cutAt, readJson } from "../../core/text.ts";
import { type ParsedEvent, parseScenario } from "../events/event-request.ts";
import { ScenarioRecorder } from "../events/scenario-recorder.ts";
import { triggerEvent } from "../events/trigger.ts";
import type { HubContext } from "../hub-context.ts";
import { withBadRequest } from "./send-source.ts";

const maxFiles = 100;
const maxDepth = 5;
/** The maximum number of files and folders that a list looks at, because a project can contain large data. */
const maxEntries = 10_000;
/** The maximum size of a file. A larger file is not a scenario that a person wrote. */
const maxBytes = 32 * 1024 * 1024;

/**
 * Lists the scenario files of a project by their paths with `/`: files whose name ends with `.scenario.json`, and the `.json` files in
 * folders with the name `scenarios`. Hidden folders, dependencies, and symbolic links are left out, so that no file is outside of the
 * folder. `isCut`: not all files are listed.
 */
export function listScenarioFiles(folder: string): { files: readonly string[]; isCut: boolean } {
  const files: string[] = [];
  const waiting = [{ path: "", depth: 0 }];
  let seen = 0;
  for (const { path, depth } of waiting) {
    for (const entry of readFolder(join(folder, path))) {
      if (++seen > maxEntries || files.length > maxFiles)
        return { files: files.slice(0, maxFiles).sort(), isCut: true };
      const { name } = entry;
      const inner = path === "" ? name : `${path}/${name}`;
      if (entry.isDirectory() && depth < maxDepth && !name.startsWith(".") && name !== "node_modules") {
        waiting.push({ path: inner, depth: depth + 1 });
      }
      const isScenario = name.endsWith(".scenario.json") || (name.endsWith(".json") && /(^|\/)scenarios$/.test(path));
      if (entry.isFile() && isScenario) files.push(inner);
    }
  }
  return { files: files.slice(0, maxFiles).sort(), isCut: files.length > maxFiles };
}

function readFolder(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** @throws `ARGUMENT_INVALID` (400) with the invalid fields, or (404) if {@link listScenarioFiles} does not list the file. */
export function readScenarioFile(folder: string, file: string): readonly ParsedEvent[] {
  const json = readJson(readListed(folder, file));
  if (json === undefined) throw badRequest(`"${file}" is not valid JSON. Choose the file again.`);
  return withBadRequest(() => parseScenario(json));
}

function readListed(folder: string, file: string): string {
  const path = join(folder, file);
  if (listScenarioFiles(folder).files.includes(file) && statSync(path).size <= maxBytes) {
    return readFileSync(path, "utf8");
  }
  throw new WebhookError(`"${file}" is not a scenario file of this project, or larger than 32 MiB. Reload the page.`, {
    code: "ARGUMENT_INVALID",
    status: 404,
  });
}

/** The routes of the scenarios in a folder. The app runs the steps one after the other. */
export function scenariosApi(hub: HubContext, folder: string): ConsoleResource {
  return (app) => {
    app.get("/scenarios", (context) => context.json<ScenarioList>({ folder, ...listScenarioFiles(folder) }));

    app.get("/scenarios/one", (context) => {
      const { file } = readQuery(context, scenarioKey);
      const text = readListed(folder, file);
      if (readJson(text) === undefined) return context.json<ScenarioSteps>({ steps: [], invalidJson: text });
      return context.json<ScenarioSteps>({ steps: readScenarioFile(folder, file).map(describeStep) });
    });

    app.post("/scenarios/step", async (context) => {
      const { file, step } = await readBody(context, scenarioStep);
      const event = readScenarioFile(folder, file)[step];
      if (!event) throw badRequest(`"${file}" has no step ${step + 1} any longer. Choose the file again.`);
      const { deliveries } = withBadRequest(() => triggerEvent(hub, event));
      const settled = await Promise.all(deliveries.map((delivery) => hub.dispatcher.waitUntilSettled(delivery)));
      const failed = settled.filter(({ status }) => status === null || status < 200 || status > 299);
      const problems = failed.map(({ url, status, error }) => `${url}: ${error ?? `status ${status}`}`);
      return context.json<StepResult>({ deliveries: settled.length, problems });
    });
  };
}

/** The routes that record a scenario of what happens on the local Hub. */
export function recordingApi(hub: HubContext): ConsoleResource {
  const { recorder } = hub;
  return (app) => {
    app.get("/recording", (context) => context.json<RecordingState>({ steps: recorder.count }));
    app.get("/recording/state", (context) =>
      context.json<TestState>(new ScenarioRecorder().describeState(hub, readQuery(context, payloadState))),
    );
    app.post("/recording/start", (context) => {
      recorder.start(hub);
      return context.json({});
    });
    app.post("/recording/stop", (context) => {
      const { events, notes } = recorder.stop(hub);
      return context.json<RecordedScenario>({
        scenario: JSON.stringify({ events }, null, 2),
        steps: events.length,
        notes,
      });
    });
  };
}

function describeStep({ event, repo, files }: ParsedEvent): string {
  const changes = Object.entries(files ?? {}).map(([path, content]) => (content === null ? `without ${path}` : path));
  const what = `${event.scope} ${event.action} of ${repo.type}:${repo.name}`;
  return changes.length === 0 ? what : `${what}: ${cutAt(changes.join(", "), 200)}`;
}
