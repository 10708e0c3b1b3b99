/** A line of a JSON logger such as pino. */
export type LogLine = Readonly<Record<string, unknown>>;

/** Parses a line of a JSON logger, which has a level and a time. Returns `undefined` for any other text. */
export function parseLogLine(text: string): LogLine | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null && "level" in parsed && "time" in parsed
      ? { ...parsed }
      : undefined;
  } catch {
    return undefined;
  }
}
