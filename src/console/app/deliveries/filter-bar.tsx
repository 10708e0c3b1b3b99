import { useState } from "preact/hooks";
import { escapeHidden } from "../../../core/text.ts";
import type { ConsoleStatus } from "../../protocol/deliveries.ts";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { Text } from "../components/text.tsx";
import { navigate } from "../state/route.ts";
import { type ListFilter, listChips } from "./filter.ts";
import { FilterFields } from "./filter-fields.tsx";
import { listHash } from "./links.ts";
import { SearchField } from "./search-field.tsx";
import { StatusFilter } from "./status-filter.tsx";
import "./filter-bar.css";

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
