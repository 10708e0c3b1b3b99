import { useEffect, useState } from "preact/hooks";
import type { DeadCount, DeadReplayed } from "../../protocol/deliveries.ts";
import { sendJson } from "../api/client.ts";
import { toApiFailure } from "../api/failure.ts";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Loading } from "../components/loading.tsx";
import { Text } from "../components/text.tsx";
import { formatCount, formatPlural } from "../format/number.ts";
import { showToast } from "../state/toasts.ts";
import { describeReplay } from "./describe-replay.ts";
import { type ListFilter, listChips, toApiFilter } from "./filter.ts";
import { SearchProgressNote } from "./search-progress-note.tsx";

/** Replays all dead deliveries that match the filter, after a confirmation. */
export function ReplayDeadButton({ filter, dead }: { filter: ListFilter; dead: number }) {
  const [isOpen, setOpen] = useState(false);
  if (dead === 0 && !isOpen) return null;
  return (
    <>
      <Button icon="replay" onClick={() => setOpen(true)}>
        Replay dead…
      </Button>
      {isOpen && <ReplayDeadDialog filter={filter} onClose={() => setOpen(false)} />}
    </>
  );
}

function ReplayDeadDialog({ filter, onClose }: { filter: ListFilter; onClose: () => void }) {
  const [count, setCount] = useState<DeadCount>();
  const [problem, setProblem] = useState<string>();
  // All requests use the same moment, so that a moving window does not move between count and replay.
  const [body] = useState(() => {
    const { status: _, ...rest } = toApiFilter(filter, Date.now());
    return rest;
  });
  const chips = listChips({ ...filter, status: undefined }, new Date());

  useEffect(() => {
    sendJson<DeadCount>("deliveries/count-dead", body).then(setCount, (error: unknown) =>
      setProblem(toApiFailure(error).message),
    );
  }, [body]);

  const replay = async () => {
    const result = await sendJson<DeadReplayed>("deliveries/replay-dead", body);
    showToast(describeReplay(result, filter));
    onClose();
  };
  return (
    <Dialog title="Replay dead deliveries" onClose={onClose}>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {!count && !problem && <Loading />}
      {count && (
        <>
          <p>
            {count.count === 0
              ? "No dead delivery matches the filters."
              : `${count.isMore ? "More than " : ""}${formatPlural(count.count, "dead delivery", "dead deliveries")} will run again, each with all its attempts.`}
          </p>
          {chips.length > 0 && (
            <ul class="chips">
              {chips.map(({ text }) => (
                <li key={text} class="chip">
                  <Text value={text} />
                </li>
              ))}
            </ul>
          )}
          <SearchProgressNote searchedUntil={count.searchedUntil} />
          <div class="dialog-actions">
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="primary" icon="replay" disabled={count.count === 0} onClick={replay}>
              {count.count === 0 ? "Replay" : `Replay ${count.isMore ? "them" : formatCount(count.count)}`}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}
