import { useEffect, useRef, useState } from "preact/hooks";
import type { RecordedScenario, RecordingState, ScenarioList, ScenarioSteps, StepResult } from "../../protocol/send.ts";
import { sendJson, toApiFailure } from "../api.ts";
import { formatPlural } from "../format.ts";
import { findSyntaxProblem } from "../json/parse.ts";
import { useResource } from "../resource.ts";
import { announce } from "../state.ts";
import { Button, CopyButton, Loaded, Select, StateLabel, Text } from "../ui.tsx";

/** Runs a scenario file of the project, step by step. */
export function Scenarios() {
  const { data } = useResource<ScenarioList>("scenarios");
  const [file, setFile] = useState("");
  return (
    <section class="pane-section" aria-labelledby="scenarios-title">
      <h2 id="scenarios-title">Scenarios</h2>
      {data && data.files.length === 0 && (
        <p class="quiet">
          A scenario is a file with several events. Save one as NAME.scenario.json below <Text value={data.folder} />.
        </p>
      )}
      {data && data.files.length > 0 && (
        <Select
          aria-label="Scenario"
          value={file}
          options={[["", "Choose a file…"], ...data.files]}
          onChange={setFile}
        />
      )}
      {data?.isCut && <p class="quiet">Not all files are listed, because the folder is large.</p>}
      {file !== "" && <Scenario key={file} file={file} />}
      <Recording />
    </section>
  );
}

/** Records a scenario of what happens on the local Hub, until the user stops it. */
function Recording() {
  const { data, reload } = useResource<RecordingState>("recording", { features: ["events"] });
  const [recorded, setRecorded] = useState<RecordedScenario>();
  const { steps } = data ?? {};
  const isRecording = steps !== undefined;
  const toggle = async () => {
    const answer = await sendJson<RecordedScenario>(`recording/${isRecording ? "stop" : "start"}`, {});
    setRecorded(isRecording ? answer : undefined);
    reload();
  };
  return (
    <>
      {isRecording && (
        <p class="notice">
          Recording {formatPlural(steps, "step", "steps")} so far. Push, comment, or change repositories, here or with
          any client.
        </p>
      )}
      {recorded && <Recorded recorded={recorded} />}
      <div class="delivery-actions">
        <Button icon={isRecording ? "pause" : "plus"} disabled={!data} onClick={toggle}>
          {isRecording ? "Stop recording" : "Record a scenario"}
        </Button>
      </div>
    </>
  );
}

function Recorded({ recorded: { scenario, steps, notes } }: { recorded: RecordedScenario }) {
  if (steps === 0) return <p class="notice">Nothing was recorded. {notes.join(" ")}</p>;
  const download = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([scenario], { type: "application/json" }));
    link.download = "recorded.scenario.json";
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <>
      <p>
        Recorded {formatPlural(steps, "step", "steps")}. Save the file in the folder of your project to run it again.
      </p>
      {notes.length > 0 && (
        <ul class="notes">
          {notes.map((note) => (
            <li key={note}>
              <Text value={note} />
            </li>
          ))}
        </ul>
      )}
      <div class="delivery-actions">
        <Button icon="folder" onClick={download}>
          Download
        </Button>
        <CopyButton text={scenario} label="Copy scenario" isNamed />
      </div>
    </>
  );
}

function Scenario({ file }: { file: string }) {
  const resource = useResource<ScenarioSteps>("scenarios/one", { query: { file } });
  return (
    <Loaded resource={resource}>
      {({ steps, invalidJson }) => {
        const problem = invalidJson === undefined ? undefined : findSyntaxProblem(invalidJson);
        if (!problem) return <Steps file={file} steps={steps} />;
        return (
          <p class="problem">
            Line {problem.line}: <Text value={problem.message} />
          </p>
        );
      }}
    </Loaded>
  );
}

/** The outcome of a step. Missing if the step has not started, and without a result while it runs. */
type Outcome = Partial<StepResult>;

function Steps({ file, steps }: { file: string; steps: readonly string[] }) {
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const isGone = useRef(false);
  useEffect(
    () => () => {
      isGone.current = true;
    },
    [],
  );
  const run = async () => {
    const done: Outcome[] = [];
    for (const step of steps.keys()) {
      if (isGone.current) return;
      setOutcomes([...done, {}]);
      try {
        done.push(await sendJson<StepResult>("scenarios/step", { file, step }));
      } catch (error) {
        setOutcomes([...done, { problems: [toApiFailure(error).message] }]);
        return announce("The scenario stopped.");
      }
    }
    setOutcomes(done);
    announce("The scenario ended.");
  };
  return (
    <>
      <ol class="attempts steps">
        {steps.map((step, index) => (
          <li key={index} class="attempt-line">
            <StepState outcome={outcomes[index]} />
            <span class="attempt-event">
              <Text value={step} />
            </span>
            {outcomes[index]?.problems?.map((problem) => (
              <Text key={problem} class="bad attempt-error" value={problem} />
            ))}
          </li>
        ))}
      </ol>
      <div class="delivery-actions">
        <Button icon="play" onClick={run}>
          Run {formatPlural(steps.length, "step", "steps")}
        </Button>
      </div>
    </>
  );
}

function StepState({ outcome }: { outcome: Outcome | undefined }) {
  if (!outcome) return <StateLabel label="Waits" color="quiet" icon="queued" />;
  if (!outcome.problems) return <StateLabel label="Runs" color="running" icon="running" />;
  if (outcome.problems.length > 0) return <StateLabel label="Failed" color="bad" icon="failed" />;
  if (outcome.deliveries === 0) return <StateLabel label="No delivery" color="ignored" icon="ignored" />;
  return <StateLabel label="Succeeded" color="good" icon="succeeded" />;
}
