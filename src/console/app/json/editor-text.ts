/** The text of a field and its selection. */
export interface Selection {
  text: string;
  start: number;
  end: number;
}

const unit = "  ";

/** Indents the selected lines, or inserts an indent if nothing is selected. */
export function indent({ text, start, end }: Selection): Selection {
  if (start === end) {
    return {
      text: text.slice(0, start) + unit + text.slice(end),
      start: start + unit.length,
      end: start + unit.length,
    };
  }
  return changeLines({ text, start, end }, (line) => unit + line);
}

/** Removes an indent from the selected lines. */
export function outdent(selection: Selection): Selection {
  return changeLines(selection, (line) => line.replace(/^ {1,2}|^\t/, ""));
}

/** Breaks the line and keeps its indent; one more after an opening bracket. */
export function breakLine({ text, start, end }: Selection): Selection {
  const line = text.slice(text.lastIndexOf("\n", start - 1) + 1, start);
  const current = /^[ \t]*/.exec(line)?.[0] ?? "";
  const isOpen = /[{[]\s*$/.test(line);
  const closes = isOpen && /^\s*[}\]]/.test(text.slice(end));
  const inserted = `\n${current}${isOpen ? unit : ""}`;
  const rest = closes ? `\n${current}` : "";
  const position = start + inserted.length;
  return { text: text.slice(0, start) + inserted + rest + text.slice(end), start: position, end: position };
}

function changeLines({ text, start, end }: Selection, change: (line: string) => string): Selection {
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const after = text.indexOf("\n", Math.max(start, end - 1));
  const until = after === -1 ? text.length : after;
  const lines = text.slice(from, until).split("\n");
  const changed = lines.map(change);
  const grown = changed.join("\n").length - (until - from);
  const first = (changed[0] ?? "").length - (lines[0] ?? "").length;
  return {
    text: text.slice(0, from) + changed.join("\n") + text.slice(until),
    start: Math.max(from, start + first),
    end: end + grown,
  };
}
