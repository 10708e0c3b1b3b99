import { useRef, useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { fromLocalInput, toLocalInput } from "../format/local-input.ts";
import type { ListFilter } from "./filter.ts";

/** Selects a start and an end in local time. */
export function TimeDialog({
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
