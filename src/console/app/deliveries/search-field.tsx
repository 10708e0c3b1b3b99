import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../components/icon.tsx";
import { useShortcut } from "../state/keyboard.ts";

const debounceMs = 250;

/** The free-text search. `/` focuses it, and Escape leaves it. */
export function SearchField({ value, onChange }: { value: string; onChange: (search: string | undefined) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const submitted = useRef<string | undefined>(undefined);
  const submit = () => {
    clearTimeout(timer.current);
    const text = field.current?.value.trim() ?? "";
    if (text === value) return;
    submitted.current = text;
    onChange(text === "" ? undefined : text);
  };
  // The other filters can change while the user types.
  const latest = useRef(submit);
  latest.current = submit;
  // The cleanup of `useEffect` runs after the next frame, when the search can already have opened the list again.
  useLayoutEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    const isTyped = submitted.current === value;
    submitted.current = undefined;
    // If the URL changed by typing, the user can have typed more since. Otherwise, it changed by a link or a chip.
    if (!isTyped && field.current && field.current.value.trim() !== value) field.current.value = value;
  }, [value]);
  useShortcut("/", () => {
    field.current?.focus();
    field.current?.select();
    return true;
  });
  return (
    <div class="search-field">
      <Icon name="search" />
      <input
        ref={field}
        class="input"
        type="search"
        aria-label="Search deliveries"
        aria-keyshortcuts="/"
        placeholder="ID, repository, or error"
        maxLength={200}
        autoComplete="off"
        spellcheck={false}
        defaultValue={value}
        onInput={() => {
          clearTimeout(timer.current);
          timer.current = setTimeout(() => latest.current(), debounceMs);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") submit();
          if (event.key === "Escape") field.current?.blur();
        }}
      />
      <span class="key" aria-hidden="true">
        /
      </span>
    </div>
  );
}
