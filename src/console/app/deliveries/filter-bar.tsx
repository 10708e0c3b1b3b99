import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { escapeHidden } from "../../../core/text.ts";
import { scopes } from "../../../payload/names.ts";
import type { ConsoleStatus, DeliverySummary } from "../../protocol/deliveries.ts";
import { formatCompact, fromLocalInput, toLocalInput } from "../format.ts";
import { navigate, useShortcut } from "../state.ts";
import { Button, Dialog, Icon, Problem, Select, Text } from "../ui.tsx";
import { describeTime, type ListFilter, listChips, listHash, readStatuses, timeWindows } from "./filter.ts";
import { StatusLabel, statuses, statusLooks } from "./status.tsx";
import "./deliveries.css";

/** The filters of the list, all kept in the URL. */
export function FilterBar({
  filter,
  totals,
  endpoints,
}: {
  filter: ListFilter;
  totals: Readonly<Partial<Record<ConsoleStatus, number>>>;
  endpoints: readonly string[];
}) {
  // On a narrow screen, the fields are behind a button.
  const [isOpen, setOpen] = useState(false);
  const change = (changes: ListFilter) => navigate(listHash({ ...filter, ...changes }), { replace: true });
  const chips = listChips(filter, new Date());
  return (
    <search class="filter-bar">
      <StatusFilter filter={filter} totals={totals} onChange={change} />
      <div class="filter-row">
        <SearchField value={filter.search ?? ""} onChange={(search) => change({ search })} />
        <button
          type="button"
          class="button filter-toggle"
          aria-expanded={isOpen}
          aria-controls="filter-fields"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="filter" /> Filters
        </button>
        <FilterFields filter={filter} endpoints={endpoints} isOpen={isOpen} onChange={change} />
      </div>
      {chips.length > 0 && (
        <ul class="chips" aria-label="Active filters">
          {chips.map(({ names, text }) => (
            <li key={text}>
              <button
                type="button"
                class="chip"
                aria-label={`Remove filter ${escapeHidden(text)}`}
                onClick={() => change(Object.fromEntries(names.map((name) => [name, undefined])))}
              >
                <Text value={text} /> <Icon name="close" />
              </button>
            </li>
          ))}
          <li>
            <Button kind="ghost" onClick={() => navigate(listHash({}))}>
              Reset
            </Button>
          </li>
        </ul>
      )}
    </search>
  );
}

const debounceMs = 250;

/** The free-text search. `/` focuses it, and Escape leaves it. */
function SearchField({ value, onChange }: { value: string; onChange: (search: string) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const submitted = useRef<string | undefined>(undefined);
  const submit = () => {
    clearTimeout(timer.current);
    const text = field.current?.value.trim() ?? "";
    if (text === value) return;
    submitted.current = text;
    onChange(text);
  };
  // The other filters can change while the user types.
  const latest = useRef(submit);
  latest.current = submit;
  // The cleanup of `useEffect` runs after the next frame, when the search can already have opened the list again.
  useLayoutEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    const isTyped = submitted.current === value;
    submitted.current = undefined;
    // If the URL changed by typing, the user can have typed more since. Otherwise, it changed by a link or a chip.
    if (!isTyped && field.current && field.current.value.trim() !== value) field.current.value = value;
  }, [value]);
  useShortcut("/", () => {
    field.current?.focus();
    field.current?.select();
  });
  return (
    <div class="search-field">
      <Icon name="search" />
      <input
        ref={field}
        class="input"
        type="search"
        aria-label="Search deliveries"
        aria-keyshortcuts="/"
        placeholder="ID, repository, or error"
        maxLength={200}
        autoComplete="off"
        spellcheck={false}
        defaultValue={value}
        onInput={() => {
          clearTimeout(timer.current);
          timer.current = setTimeout(() => latest.current(), debounceMs);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") submit();
        }}
      />
      <span class="key" aria-hidden="true">
        /
      </span>
    </div>
  );
}

/** One toggle per status, with its total over all deliveries. */
function StatusFilter({
  filter,
  totals,
  onChange,
}: {
  filter: ListFilter;
  totals: Readonly<Partial<Record<ConsoleStatus, number>>>;
  onChange: (changes: ListFilter) => void;
}) {
  const chosen = readStatuses(filter.status);
  const toggle = (status: ConsoleStatus) => {
    const next = chosen.includes(status) ? chosen.filter((other) => other !== status) : [...chosen, status];
    onChange({ status: next.join() });
  };
  return (
    <fieldset class="status-filter">
      <legend class="visually-hidden">Status</legend>
      <button
        type="button"
        class="status-toggle"
        aria-pressed={chosen.length === 0}
        onClick={() => onChange({ status: undefined })}
      >
        All
      </button>
      {statuses.map((status) => (
        <button
          key={status}
          type="button"
          class="status-toggle"
          aria-pressed={chosen.includes(status)}
          title={statusLooks[status].description}
          onClick={() => toggle(status)}
        >
          <StatusLabel status={status} />
          {totals[status] !== undefined && <span class="total">{formatCompact(totals[status])}</span>}
        </button>
      ))}
    </fieldset>
  );
}

const repositoryListId = "repositories";
const maxSuggestions = 200;

/** The suggestions of the repository filter: the repositories of the rows so far. */
export function RepositorySuggestions({ rows }: { rows: readonly DeliverySummary[] }) {
  const seen = useRef(new Set<string>());
  for (const { repository } of rows) {
    if (repository && seen.current.size < maxSuggestions) seen.current.add(`${repository.type}:${repository.name}`);
  }
  return (
    <datalist id={repositoryListId}>
      {[...seen.current].sort().map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}

const actions = ["create", "update", "delete", "move"];
const windows = Object.entries(timeWindows).map(([name, { label }]) => [name, label] as const);

interface FilterFieldsProps {
  filter: ListFilter;
  endpoints: readonly string[];
  /** Whether the fields are visible on a narrow screen. */
  isOpen: boolean;
  onChange: (changes: ListFilter) => void;
}

/** The filters other than status and search. */
function FilterFields({ filter, endpoints, isOpen, onChange }: FilterFieldsProps) {
  const [isTimeOpen, setTimeOpen] = useState(false);
  const repository = useRef<HTMLInputElement>(null);
  // Not with the property `value`: each arriving delivery renders the list, which would remove what the user has typed.
  useLayoutEffect(() => {
    if (repository.current) repository.current.value = filter.repository ?? "";
  }, [filter.repository]);
  const custom = filter.last === undefined ? describeTime(filter, new Date()) : undefined;
  return (
    <div id="filter-fields" class="filter-fields" data-open={isOpen}>
      <Choice
        label="Endpoint"
        value={filter.endpoint}
        values={endpoints}
        onChange={(endpoint) => onChange({ endpoint })}
      />
      <Choice label="Scope" value={filter.scope} values={scopes} onChange={(scope) => onChange({ scope })} />
      <Choice label="Action" value={filter.action} values={actions} onChange={(action) => onChange({ action })} />
      <input
        ref={repository}
        class="input repository-filter"
        aria-label="Repository"
        placeholder="Repository or part of it"
        list={repositoryListId}
        autoComplete="off"
        spellcheck={false}
        onChange={({ currentTarget }) => onChange({ repository: currentTarget.value.trim() })}
      />
      <Select
        aria-label="Time"
        value={filter.last ?? (custom ? "custom" : "")}
        options={[["", "Any time"], ...windows, ["custom", custom ?? "Custom…"]]}
        onChange={(last) => {
          if (last === "custom") setTimeOpen(true);
          else onChange({ last, from: undefined, until: undefined });
        }}
      />
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

interface ChoiceProps {
  label: string;
  value: string | undefined;
  values: readonly string[];
  onChange: (value: string) => void;
}

function Choice({ label, value = "", values, onChange }: ChoiceProps) {
  const unlisted = value === "" || values.includes(value) ? [] : [value];
  const all = `All ${label.toLowerCase()}s`;
  return <Select aria-label={label} value={value} options={[["", all], ...values, ...unlisted]} onChange={onChange} />;
}

const timeFields = [
  { name: "from", label: "From" },
  { name: "until", label: "Until" },
] as const;

function TimeDialog({
  filter,
  onClose,
  onChange,
}: {
  filter: ListFilter;
  onClose: () => void;
  onChange: (range: Pick<ListFilter, "from" | "until">) => void;
}) {
  const [problem, setProblem] = useState<string>();
  return (
    <Dialog title="Received between" onClose={onClose}>
      <form
        class="time-range"
        onSubmit={(event) => {
          event.preventDefault();
          const values = new FormData(event.currentTarget);
          const [from, until] = timeFields.map(({ name }) => fromLocalInput(String(values.get(name))));
          if (from !== undefined && until !== undefined && from >= until) {
            setProblem("The end must be later than the start.");
            return;
          }
          onChange({ from, until });
          onClose();
        }}
      >
        {timeFields.map(({ name, label }) => (
          <div key={name} class="field">
            <label for={`time-${name}`}>{label}</label>
            <input
              id={`time-${name}`}
              name={name}
              class="input"
              type="datetime-local"
              step={1}
              defaultValue={toLocalInput(filter[name])}
            />
          </div>
        ))}
        <Problem text={problem} />
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
