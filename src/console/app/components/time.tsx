import { useComputed } from "@preact/signals";
import { formatDuration, formatMoment } from "../format/time.ts";
import { now } from "../state/clock.ts";

/** A moment in local time, with the exact UTC time on hover. */
export function Moment({ at }: { at: number }) {
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={date.toISOString()}>
      {formatMoment(date, new Date())}
    </time>
  );
}

/** The time until a moment, counting down. */
export function Countdown({ at }: { at: number }) {
  const text = useComputed(() => (at <= now.value ? "due" : `in ${formatDuration(at - now.value, { unit: "s" })}`));
  return (
    <time dateTime={new Date(at).toISOString()} title={new Date(at).toISOString()}>
      {text}
    </time>
  );
}

/** The time since a moment, counting up. */
export function Elapsed({ since }: { since: number }) {
  const text = useComputed(() => formatDuration(Math.max(0, now.value - since), { unit: "s" }));
  return <>{text}</>;
}
