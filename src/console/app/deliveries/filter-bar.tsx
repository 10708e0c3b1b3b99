import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { escapeHidden } from "../../../core/text.ts";
import type { ConsoleStatus } from "../../protocol/deliveries.ts";
import { navigate } from "../state/route.ts";
import { Button, Icon, Text } from "../ui.tsx";
import { type ListFilter, listChips, readStatuses } from "./filter.ts";
import { FilterFields } from "./filter-fields.tsx";
import { listHash } from "./links.ts";
import "./filter-bar.css";
import { formatCompact } from "../format.ts";
import { useShortcut } from "../state/keyboard.ts";
import { statuses, statusLooks } from "./status.ts";
import { StatusLabel } from "./status-label.tsx";

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
function SearchField({ value, onChange }: { value: string; onChange: (search: string | undefined) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const submitted = useRef<string | undefined>(undefined);
  const submit = () => {
    clearTimeout(timer.current);
    const text = field.current?.value.trim() ?? "";
    if (text === value) return;
    submitted.current = text;
    onChange(text === "" ? undefined : text);
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
    return true;
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
          if (event.key === "Escape") field.current?.blur();
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
    onChange({ status: next.length === 0 ? undefined : next.join() });
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
