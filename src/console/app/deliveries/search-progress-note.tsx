import { formatMoment } from "../format.ts";

/** Describes how far a search examined the deliveries. Shows nothing if it examined all. */
export function SearchProgressNote({ searchedUntil }: { searchedUntil: number | undefined }) {
  if (searchedUntil === undefined) return null;
  return <p>Searched back to {formatMoment(new Date(searchedUntil), new Date())}.</p>;
}
