import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { FieldProblem } from "../../protocol/session.ts";
import { Text } from "../ui.tsx";
import { findSyntaxProblem, placeFieldProblems, type TextProblem } from "./parse.ts";
import "./json.css";

/**
 * Edits a JSON text. Problems are marked at their lines and listed below. Tab indents; after Escape, Tab leaves the field.
 */
export function JsonEditor({
  label,
  value,
  fields = [],
  rows = 22,
  goesToProblem = true,
  onChange,
  submitId = "",
}: {
  label: string;
  value: string;
  /** The invalid fields that the server found in `value`. */
  fields?: readonly FieldProblem[];
  rows?: number;
  /** Whether the cursor moves to the first invalid field. Not for fields that are checked while the user types. */
  goesToProblem?: boolean;
  onChange: (text: string) => void;
  /** The ID of the button that Ctrl+Enter or Command+Enter presses. It ignores the keys while it is disabled or pending. */
  submitId?: string;
}) {
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const [scroll, setScroll] = useState({ top: 0 });
  const tabLeaves = useRef(false);
  const problems = useMemo(() => findProblems(value, fields), [value, fields]);
  const lineCount = useMemo(() => value.split("\n").length, [value]);

  // The field keeps its own text, so that the browser's undo works.
  useLayoutEffect(() => {
    if (field.current && field.current.value !== value) field.current.value = value;
  }, [value]);

  const replaceSelection = (change: (selection: Selection) => Selection) => {
    const target = field.current;
    if (!target) return;
    const next = change({ text: target.value, start: target.selectionStart, end: target.selectionEnd });
    replaceText(target, next);
    onChange(target.value);
  };
  const handleKey = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      document.getElementById(submitId)?.click();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape" && !tabLeaves.current) {
      // The first Escape frees the Tab key. The next one closes the dialog around the editor.
      tabLeaves.current = true;
      event.preventDefault();
      event.stopPropagation();
    } else if (event.key === "Tab" && !tabLeaves.current) {
      event.preventDefault();
      replaceSelection(event.shiftKey ? outdent : indent);
    } else if (event.key === "Enter") {
      event.preventDefault();
      replaceSelection(breakLine);
    } else if (event.key !== "Shift" && event.key !== "Tab") tabLeaves.current = false;
  };
  const goTo = ({ position, line }: TextProblem) => {
    const target = field.current;
    if (!target) return;
    target.focus();
    target.setSelectionRange(position, position);
    // Browsers do not scroll to a selection that a script sets.
    target.scrollTop = Math.max(0, (line - 4) * Number.parseFloat(getComputedStyle(target).lineHeight));
  };
  useEffect(() => {
    const [first] = placeFieldProblems(field.current?.value ?? "", fields);
    if (first && goesToProblem) goTo(first);
  }, [fields.length > 0]);

  return (
    <div class="editor">
      <div class="editor-frame" style={{ "--rows": rows, "--scroll": `${-scroll.top}px` }}>
        <div class="editor-gutter" aria-hidden="true">
          <pre>{Array.from({ length: lineCount }, (_, index) => index + 1).join("\n")}</pre>
        </div>
        <div class="editor-marks" aria-hidden="true">
          {problems.map(({ line, message }) => (
            <div key={`${line} ${message}`} class="editor-mark" style={{ "--line-index": line - 1 }}>
              <span>{message}</span>
            </div>
          ))}
        </div>
        <textarea
          ref={field}
          class="editor-field"
          aria-label={label}
          aria-describedby={`${id}-hint ${id}-problems`}
          aria-invalid={problems.length > 0}
          wrap="off"
          spellcheck={false}
          autoComplete="off"
          autoCapitalize="off"
          defaultValue={value}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
          onKeyDown={handleKey}
          onFocus={() => {
            tabLeaves.current = false;
          }}
          onScroll={({ currentTarget }) => setScroll({ top: currentTarget.scrollTop })}
        />
      </div>
      <div role="status" id={`${id}-problems`}>
        <ul class="editor-problems">
          {problems.map((problem) => (
            <li key={`${problem.line} ${problem.message}`}>
              <button type="button" onClick={() => goTo(problem)}>
                Line {problem.line}
              </button>{" "}
              <Text value={problem.message} />
            </li>
          ))}
        </ul>
      </div>
      <p class="quiet editor-hint" id={`${id}-hint`}>
        Tab indents. To leave the editor with the keyboard, press Escape, then Tab.
      </p>
    </div>
  );
}

function findProblems(text: string, fields: readonly FieldProblem[]): readonly TextProblem[] {
  const syntax = findSyntaxProblem(text);
  return syntax ? [syntax] : placeFieldProblems(text, fields);
}

/** Replaces only what differs, as an edit that the browser can undo. */
function replaceText(target: HTMLTextAreaElement, { text, start, end }: Selection): void {
  const before = target.value;
  let from = 0;
  while (from < before.length && before[from] === text[from]) from += 1;
  let tail = 0;
  const maxTail = Math.min(before.length, text.length) - from;
  while (tail < maxTail && before.at(-1 - tail) === text.at(-1 - tail)) tail += 1;
  target.setSelectionRange(from, before.length - tail);
  const inserted = text.slice(from, text.length - tail);
  const isDone = inserted === "" ? document.execCommand("delete") : document.execCommand("insertText", false, inserted);
  if (!isDone) target.value = text;
  target.setSelectionRange(start, end);
}

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
