/** Writes a moment for an `<input type="datetime-local">`, in local time. */
export function toLocalInput(at: number | undefined): string {
  if (at === undefined) return "";
  const date = new Date(at);
  return new Date(at - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** Reads the value of an `<input type="datetime-local">`. */
export function fromLocalInput(text: string | undefined): number | undefined {
  const at = Date.parse(text ?? "");
  return Number.isNaN(at) ? undefined : at;
}
