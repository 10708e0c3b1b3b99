import { useRef, useState } from "preact/hooks";
import { escapeHidden } from "../../../core/text.ts";
import { fromLocalInput, toLocalInput } from "../format.ts";
import { Button, Dialog } from "../ui.tsx";
import { describeTime, type ListFilter, timeWindows } from "./filter.ts";
import { knownScopes } from "./known-scopes.ts";

const actions = ["create", "update", "delete", "move"];

/** The filters other than status and search. */
export function FilterFields({
  filter,
  endpoints,
  isOpen,
  onChange,
}: {
  filter: ListFilter;
  endpoints: readonly string[];
  /** Whether the fields are visible on a narrow screen. */
  isOpen: boolean;
  onChange: (changes: ListFilter) => void;
}) {
  const [isTimeOpen, setTimeOpen] = useState(false);
  const custom = filter.last === undefined ? describeTime(filter, new Date()) : undefined;
  return (
    <div id="filter-fields" class="filter-fields" data-open={isOpen}>
      <Choice
        label="Endpoint"
        all="All endpoints"
        value={filter.endpoint}
        values={endpoints}
        onChange={(endpoint) => onChange({ endpoint })}
      />
      <Choice
        label="Scope"
        all="All scopes"
        value={filter.scope}
        values={knownScopes}
        onChange={(scope) => onChange({ scope })}
      />
      <Choice
        label="Action"
        all="All actions"
        value={filter.action}
        values={actions}
        onChange={(action) => onChange({ action })}
      />
      <input
        class="input repository-filter"
        aria-label="Repository"
        placeholder="Repository, such as acme/data"
        autoComplete="off"
        spellcheck={false}
        value={filter.repository ?? ""}
        onChange={({ currentTarget }) => onChange({ repository: currentTarget.value.trim() })}
      />
      <select
        class="select"
        aria-label="Time"
        value={filter.last ?? (custom === undefined ? "" : "custom")}
        onChange={({ currentTarget }) => {
          if (currentTarget.value === "custom") setTimeOpen(true);
          else onChange({ last: currentTarget.value, from: undefined, until: undefined });
        }}
      >
        <option value="">Any time</option>
        {Object.entries(timeWindows).map(([name, { label }]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
        <option value="custom">{custom ?? "Custom…"}</option>
      </select>
      {isTimeOpen && (
        <TimeDialog
          filter={filter}
          onClose={() => setTimeOpen(false)}
          onChange={(range) => onChange({ last: undefined, ...range })}
        />
      )}
    </div>
  );
}

function Choice({
  label,
  all,
  value,
  values,
  onChange,
}: {
  label: string;
  all: string;
  value: string | undefined;
  values: readonly string[];
  onChange: (value: string | undefined) => void;
}) {
  const options = value === undefined || values.includes(value) ? values : [...values, value];
  return (
    <select
      class="select"
      aria-label={label}
      value={value ?? ""}
      onChange={({ currentTarget }) => onChange(currentTarget.value === "" ? undefined : currentTarget.value)}
    >
      <option value="">{all}</option>
      {options.map((option) => (
        <option key={option} value={option}>
          {escapeHidden(option)}
        </option>
      ))}
    </select>
  );
}

/** Selects a start and an end in local time. */
function TimeDialog({
  filter,
  onClose,
  onChange,
}: {
  filter: ListFilter;
  onClose: () => void;
  onChange: (range: Pick<ListFilter, "from" | "until">) => void;
}) {
  const from = useRef<HTMLInputElement>(null);
  const until = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState<string>();
  return (
    <Dialog title="Received between" onClose={onClose}>
      <form
        class="time-range"
        onSubmit={(event) => {
          event.preventDefault();
          const range = { from: fromLocalInput(from.current?.value), until: fromLocalInput(until.current?.value) };
          if (range.from !== undefined && range.until !== undefined && range.from >= range.until) {
            setProblem("The end must be later than the start.");
            return;
          }
          onChange(range);
          onClose();
        }}
      >
        <div class="field">
          <label for="time-from">From</label>
          <input
            id="time-from"
            ref={from}
            class="input"
            type="datetime-local"
            step={1}
            defaultValue={toLocalInput(filter.from)}
          />
        </div>
        <div class="field">
          <label for="time-until">Until</label>
          <input
            id="time-until"
            ref={until}
            class="input"
            type="datetime-local"
            step={1}
            defaultValue={toLocalInput(filter.until)}
          />
        </div>
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <div class="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary">
            Apply
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
