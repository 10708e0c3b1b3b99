import type { ConsoleStatus } from "../../protocol/deliveries.ts";
import { formatCompact } from "../format/number.ts";
import { type ListFilter, readStatuses } from "./filter.ts";
import { statuses, statusLooks } from "./status.ts";
import { StatusLabel } from "./status-label.tsx";

/** One toggle per status, with its total over all deliveries. */
export function StatusFilter({
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
