import { useState } from "preact/hooks";
import { escapeHidden } from "../../../core/text.ts";
import { describeTime, type ListFilter, timeWindows } from "./filter.ts";
import { knownScopes } from "./known-scopes.ts";
import { TimeDialog } from "./time-dialog.tsx";

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
