import type { SearchLimits } from "../../protocol/deliveries.ts";
import { formatCount, formatPlural } from "../format/number.ts";

/** Names the deliveries that a search did not cover. Shows nothing if it covered all. */
export function SearchLimitsNote({ searchedNewest, unindexed = 0 }: SearchLimits) {
  return (
    <>
      {searchedNewest !== undefined && (
        <p>Searched the newest {formatPlural(searchedNewest, "delivery", "deliveries")}.</p>
      )}
      {unindexed > 0 && (
        <p>{unindexed === 1 ? "1 delivery is" : `${formatCount(unindexed)} deliveries are`} not indexed yet.</p>
      )}
    </>
  );
}
