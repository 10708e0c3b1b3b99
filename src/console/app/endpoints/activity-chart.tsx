import type { ActivityBar } from "../../protocol/endpoints.ts";
import { formatCompact } from "../format/number.ts";
import { type ActivityKind, countBars, describeBars, sumBars, toHeights } from "./activity.ts";

const height = 28;
const barWidth = 6;
const gap = 2;

/** Small bars with failures in red, beside the sums. */
export function ActivityChart({
  bars,
  kind,
  window,
}: {
  bars: readonly ActivityBar[];
  kind: ActivityKind;
  /** The window in words, such as `1 h`. */
  window: string;
}) {
  const counted = countBars(bars, kind);
  const sum = sumBars(counted);
  const width = bars.length * (barWidth + gap) - gap;
  return (
    <figure class="activity">
      <figcaption>
        {kind === "deliveries" ? "Deliveries" : "Attempts"} <strong>{formatCompact(sum.total)}</strong>
        {sum.failed > 0 && <span class="bad"> · {formatCompact(sum.failed)} failed</span>}
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`${describeBars(sum, kind)} in ${window}`}
        preserveAspectRatio="none"
      >
        {toHeights(counted).map(({ good, bad }, index) => {
          const x = index * (barWidth + gap);
          const [goodHeight, badHeight] = [toPixels(good), toPixels(bad)];
          return (
            <g key={index}>
              <rect class="bar-base" x={x} y={height - 1} width={barWidth} height={1} />
              <rect class="bar-good" x={x} y={height - goodHeight - badHeight} width={barWidth} height={goodHeight} />
              <rect class="bar-bad" x={x} y={height - badHeight} width={barWidth} height={badHeight} />
            </g>
          );
        })}
      </svg>
    </figure>
  );
}

/** Even one delivery among thousands is visible. */
function toPixels(part: number): number {
  return part === 0 ? 0 : Math.max(2, Math.round(part * (height - 2)));
}
