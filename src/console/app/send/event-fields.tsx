import { useEffect, useId, useRef } from "preact/hooks";
import type { SendOptions } from "../../protocol/send.ts";
import { Select } from "../ui.tsx";
import type { Draft } from "./editing.ts";

/** The repository of samples. */
const sampleName = "acme/data";

interface EventFieldsProps {
  options: SendOptions;
  draft: Draft;
  /** Whether the payload is that of a past delivery, so that no event is chosen yet. */
  isPast: boolean;
  problem: string | undefined;
  onChange: (changes: Partial<Draft>) => void;
}

/** Chooses the event: by scope, action, and repository, or from a sample. */
export function EventFields({ options, draft, isPast, problem, onChange }: EventFieldsProps) {
  const id = useId();
  useEffect(() => document.getElementById(`${id}-scope`)?.focus(), []);
  const known = options.scopes.map(({ scope }) => scope);
  const scopes = withValue(known, draft.scope);
  const actions = options.scopes.find(({ scope }) => scope === draft.scope)?.actions ?? [];
  const chooseScope = (scope: string) => {
    const [first = draft.action] = options.scopes.find((one) => one.scope === scope)?.actions ?? [];
    onChange({ scope, action: first, pr: undefined });
  };
  const chooseSample = (name: string) => {
    const sample = options.samples.find((one) => one.name === name);
    if (!sample) return;
    const { scope, action, repoType } = sample;
    onChange({ scope, action, repository: `${repoType}:${sampleName}`, pr: undefined });
  };
  return (
    <div class="event-fields">
      {isPast && (
        <p class="notice">
          This is the payload of a past delivery. It is sent as it is. To send a new event, choose one here:
        </p>
      )}
      <div class="field">
        <label for={`${id}-scope`}>Scope</label>
        <Select
          id={`${id}-scope`}
          value={isPast ? "" : draft.scope}
          options={isPast ? [["", "Past delivery"], ...scopes] : scopes}
          onChange={chooseScope}
        />
      </div>
      {!isPast && (
        <>
          <div class="field">
            <label for={`${id}-action`}>Action</label>
            <Select
              id={`${id}-action`}
              value={draft.action}
              options={withValue(actions, draft.action)}
              onChange={(action) => onChange({ action, pr: undefined })}
            />
          </div>
          <RepositoryField
            id={id}
            value={draft.repository}
            repositories={options.repositories}
            problem={problem}
            onChange={(repository) => onChange({ repository })}
          />
          <div class="field">
            <label for={`${id}-sample`}>Sample</label>
            <select
              id={`${id}-sample`}
              class="select"
              value=""
              onChange={({ currentTarget }) => {
                chooseSample(currentTarget.value);
                currentTarget.value = "";
              }}
            >
              <option value="">Choose…</option>
              {options.samples.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </div>
        </>
      )}
    </div>
  );
}

/** Adds a value that the server does not list, such as a new scope in a link. */
function withValue(known: readonly string[], value: string): readonly string[] {
  return known.includes(value) ? known : [...known, value];
}

const debounceMs = 400;

interface RepositoryFieldProps {
  id: string;
  value: string;
  repositories: readonly string[];
  problem: string | undefined;
  onChange: (repository: string) => void;
}

function RepositoryField({ id, value, repositories, problem, onChange }: RepositoryFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (problem === undefined && field.current && field.current.value.trim() !== value) field.current.value = value;
  }, [value, problem]);
  const submit = () => {
    clearTimeout(timer.current);
    const text = field.current?.value.trim() ?? "";
    if (text !== value || problem !== undefined) onChange(text);
  };
  return (
    <div class="field">
      <label for={`${id}-repository`}>Repository</label>
      <input
        ref={field}
        id={`${id}-repository`}
        class="input"
        type="text"
        list={`${id}-repositories`}
        placeholder="dataset:me/data"
        autoComplete="off"
        spellcheck={false}
        defaultValue={value}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-repository-problem`}
        onInput={() => {
          clearTimeout(timer.current);
          timer.current = setTimeout(submit, debounceMs);
        }}
        onBlur={submit}
        onKeyDown={(event) => {
          if (event.key === "Enter") submit();
        }}
      />
      <datalist id={`${id}-repositories`}>
        {repositories.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <p id={`${id}-repository-problem`} class="field-problem">
        {problem}
      </p>
    </div>
  );
}
