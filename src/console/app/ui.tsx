import { useComputed } from "@preact/signals";
import { type ComponentChildren, type ComponentType, Fragment } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { escapeHidden } from "../../core/text.ts";
import { ApiFailure } from "./api.ts";
import { formatDuration, formatMoment } from "./format.ts";
import type { Resource } from "./resource.ts";
import { announce, now, showFailure, showToast } from "./state.ts";

interface ButtonProps {
  children?: ComponentChildren;
  icon?: IconName;
  /** `primary` for the main action of a page, `danger` for one that cannot be undone. Default `plain`. */
  kind?: "plain" | "primary" | "danger" | "ghost";
  /** The accessible name of a button without text. It is also the tooltip. */
  label?: string;
  /** The tooltip of a button with text. */
  title?: string;
  shortcut?: string;
  type?: "button" | "submit";
  disabled?: boolean;
  pressed?: boolean;
  /** While a promise is pending, the button shows it and does nothing. A rejection is shown as a toast. */
  onClick?: () => unknown;
  id?: string;
}

/** A button. Its action may be asynchronous. */
export function Button(props: ButtonProps) {
  const { children, icon, kind = "plain", label, title, shortcut, type = "button" } = props;
  const { disabled, pressed, onClick, id } = props;
  const [isPending, setPending] = useState(false);
  const isMounted = useRef(true);
  const run = async () => {
    if (isPending || disabled) return;
    const result = onClick?.();
    if (!(result instanceof Promise)) return;
    setPending(true);
    try {
      await result;
    } catch (error) {
      showFailure(error);
    } finally {
      if (isMounted.current) setPending(false);
    }
  };
  return (
    <button
      id={id}
      type={type}
      class={`button button-${kind}${children === undefined ? " button-icon" : ""}`}
      aria-label={label}
      title={label ?? title}
      aria-keyshortcuts={shortcut}
      aria-pressed={pressed}
      aria-disabled={isPending || disabled ? true : undefined}
      aria-busy={isPending ? true : undefined}
      onClick={run}
    >
      {isPending ? <span class="spinner" /> : icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
      {shortcut && (
        <span class="key" aria-hidden="true">
          {shortcut}
        </span>
      )}
    </button>
  );
}

/** The paths of the icons, 16 by 16 units, drawn with a line of 1.5 units. */
const paths = {
  queued: "M8 2.25a5.75 5.75 0 1 0 0 11.5a5.75 5.75 0 0 0 0-11.5M8 5v3.25l2 1.25",
  retrying: "M13 8a5 5 0 1 1-1.6-3.7M13 2.25v2.5h-2.5",
  running: "M5.25 3.5v9l7-4.5z",
  succeeded: "M3 8.5l3.25 3.25L13 4.75",
  ignored: "M3.5 8h9",
  failed: "M4 4l8 8M12 4l-8 8",
  dead: "M5.5 2.25h5l3.25 3.25v5l-3.25 3.25h-5L2.25 10.5v-5zM8 5v3.5M8 10.75v.01",
  cancelled: "M8 2.25a5.75 5.75 0 1 0 0 11.5a5.75 5.75 0 0 0 0-11.5M4 12l8-8",
  copy: "M6 5.75h7.25v7.5H6zM10 5.5V2.75H2.75v7.5h3",
  close: "M4 4l8 8M12 4l-8 8",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 0 0 0-9M10.25 10.25L13.5 13.5",
  external: "M6.5 3H3v10h10V9.5M9 2.75h4.25V7M13 3L7.5 8.5",
  folder: "M2.5 3.5h4L8 5h5.5v7.5h-11z",
  replay: "M3 8a5 5 0 1 0 1.6-3.7M3 2.25v2.5h2.5",
  edit: "M10.5 3l2.5 2.5L6 12.5l-3 .5l.5-3z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5.25 3.5v9l7-4.5z",
  discard: "M3 4.5h10M6.25 4.5v-2h3.5v2M4.5 4.5l.5 9h6l.5-9",
  light:
    "M8 5a3 3 0 1 0 0 6a3 3 0 0 0 0-6M8 1v1.25M8 13.75V15M1 8h1.25M13.75 8H15M3.05 3.05l.9.9M12.05 12.05l.9.9M12.95 3.05l-.9.9M3.95 12.05l-.9.9",
  dark: "M13.25 9.5A5.75 5.75 0 1 1 6.5 2.75a4.5 4.5 0 0 0 6.75 6.75z",
  system: "M2.25 3h11.5v8H2.25zM5.5 13.5h5",
  help: "M5.75 6a2.25 2.25 0 1 1 3.25 2c-.75.4-1 .8-1 1.5M8 12v.01",
  signOut: "M6 3H3v10h3M7 8h6.25M10.75 5.25L13.5 8l-2.75 2.75",
  chevron: "M6 4l4 4l-4 4",
  arrowUp: "M8 13V3.5M4 7l4-4l4 4",
  filter: "M2.5 4h11M4.5 8h7M6.5 12h3",
  plus: "M8 3v10M3 8h10",
} as const;

export type IconName = keyof typeof paths;

/** A decorative icon. It always stands beside a word, or inside a control with a label. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}

/** How a state looks: a word with an icon, in a color by its meaning. */
export interface StateLook {
  label: string;
  color: "bad" | "retry" | "good" | "ignored" | "running" | "quiet";
  icon: IconName;
}

export function StateLabel({ label, color, icon, title }: StateLook & { title?: string | undefined }) {
  return (
    <span class="status" data-color={color} title={title}>
      <Icon name={icon} />
      {label}
    </span>
  );
}

/** The product's mark. It stands beside the product's name. */
export function Mark({ size = 24 }: { size?: number }) {
  return (
    <svg class="mark" viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
      <rect class="mark-ground" width="32" height="32" rx="9" />
      <circle class="mark-dot" cx="20.5" cy="8.5" r="2.75" />
      <path class="mark-line" d="M20.5 11.5v6.75a5.75 5.75 0 0 1-11.5 0V16" />
      <path class="mark-line" d="M5.75 18.75 9 15.5l3.25 3.25" />
    </svg>
  );
}

/** A text from outside, such as a repository's name. Bidirectional and control characters cannot disguise it. */
export function Text({ value, class: name }: { value: string; class?: string }) {
  const text = <bdi>{escapeHidden(value)}</bdi>;
  return name === undefined ? text : <span class={name}>{text}</span>;
}

/** A text from outside, as code. */
export function Code({ value, class: name }: { value: string; class?: string }) {
  return (
    <code class={name}>
      <Text value={value} />
    </code>
  );
}

/** A text from outside, as code to copy. */
export function CopyableCode({ value, label }: { value: string; label: string }) {
  return (
    <>
      <Code value={value} />
      <CopyButton text={value} label={label} />
    </>
  );
}

/** Why an action failed, if it did. */
export function Problem({ text, id }: { text: string | undefined; id?: string }) {
  if (text === undefined) return null;
  return (
    <p class="problem" role="alert" id={id}>
      <Text value={text} />
    </p>
  );
}

/** A placeholder for content that loads. Appears after a moment, so that fast answers do not flicker. */
export function Loading() {
  return (
    <p class="loading">
      <span class="spinner" /> Loading…
    </p>
  );
}

/** Whether a URL is safe to link to. Node accepts some hosts that browsers refuse. */
export function isWebUrl(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url);
}

/** A URL or a path from outside. Long ones break after a slash rather than inside a word. */
export function UrlText({ value }: { value: string }) {
  return (
    <bdi>
      {escapeHidden(value)
        .split(/(?<=\/)(?!\/)/)
        .map((part, index) => (
          <Fragment key={index}>
            {index > 0 && <wbr />}
            {part}
          </Fragment>
        ))}
    </bdi>
  );
}

/** A choice of one value. An option without a label shows its value. */
export function Select({
  value,
  options,
  onChange,
  ...attributes
}: {
  id?: string;
  "aria-label"?: string;
  value: string;
  options: readonly (string | readonly [value: string, label: string])[];
  onChange: (value: string) => void;
}) {
  const labels = options.map((option) => (typeof option === "string" ? ([option, option] as const) : option));
  return (
    <select
      {...attributes}
      class="select"
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    >
      {labels.map(([name, label]) => (
        <option key={name} value={name}>
          {escapeHidden(label)}
        </option>
      ))}
    </select>
  );
}

/** A command to copy. */
export function Command({ text }: { text: string }) {
  return (
    <div class="command">
      <code>{text}</code>
      <CopyButton text={text} label="Copy command" />
    </div>
  );
}

/** A message of the server. Parts in backticks are code. */
export function Message({ text }: { text: string }) {
  return <>{text.split("`").map((part, index) => (index % 2 === 1 ? <Code value={part} /> : <Text value={part} />))}</>;
}

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

/** Replaces an empty list with the reason and the next step. */
export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty-state">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Replaces content that could not be loaded with the reason. */
export function FailureState({ failure, onRetry }: { failure: ApiFailure; onRetry: () => void }) {
  const isDown = failure.code === "UNREACHABLE";
  return (
    <EmptyState title={isDown ? "The server is not reachable" : "This could not be loaded"}>
      <p>
        <Text value={isDown ? "Check that it is running. The console reconnects by itself." : failure.message} />
      </p>
      {!isDown && (
        <p>
          <code>{failure.code}</code>
        </p>
      )}
      <Button icon="replay" onClick={onRetry}>
        Try again
      </Button>
    </EmptyState>
  );
}

/**
 * The content of a resource, when it is loaded. Until then, a placeholder or why it could not be loaded. If loading it again fails, the
 * last content stays below the reason.
 */
export function Loaded<Answer>({
  resource: { data, failure, reload },
  children,
}: {
  resource: Resource<Answer>;
  children: (data: Answer) => ComponentChildren;
}) {
  if (data === undefined) return failure ? <FailureState failure={failure} onRetry={reload} /> : <Loading />;
  return (
    <>
      {failure && (
        <p class="notice notice-warning" role="status">
          Not up to date: <Text value={failure.message} />
        </p>
      )}
      {children(data)}
    </>
  );
}

/** Creates a view or a part of one whose code is loaded when it is opened, so that the first page is small. */
export function loadedLater<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return function LoadedLater(props) {
    const [state, setState] = useState<{ data?: ComponentType<Props>; failure?: ApiFailure }>({});
    useEffect(() => {
      load().then(
        (data) => setState({ data }),
        // The server is away, or serves another version by now. A reconnect does not load the code.
        () => setState({ failure: new ApiFailure("Reload the page.", { status: 0, code: "NOT_LOADED" }) }),
      );
    }, []);
    const { data, failure } = state;
    return (
      <Loaded resource={{ data, failure, reload: () => location.reload() }}>{(View) => <View {...props} />}</Loaded>
    );
  };
}

const confirmedMs = 2_000;

interface CopyButtonProps {
  /** The text, or a function that creates it when the button is used. */
  text: string | (() => string);
  label: string;
  isNamed?: boolean;
  /** What to do before using the text. It is shown when the text is copied. */
  nextStep?: string;
}

/** Copies a text. `label` is the accessible name, such as "Copy ID"; with `isNamed`, it is visible too. */
export function CopyButton({ text, label, isNamed = false, nextStep }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), confirmedMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    await copyText(typeof text === "function" ? text() : text);
    setCopied(true);
    if (nextStep === undefined) announce("Copied.");
    else showToast({ kind: "done", text: `Copied. ${nextStep}` });
  };
  const icon = isCopied ? "succeeded" : "copy";
  if (!isNamed) return <Button kind="ghost" icon={icon} label={isCopied ? "Copied" : label} onClick={copy} />;
  return (
    <Button icon={icon} onClick={copy}>
      {/* Both texts take their space, so that the button keeps its width. */}
      <span class="copy-text">
        <span data-hidden={isCopied}>{label}</span>
        <span data-hidden={!isCopied}>Copied</span>
      </span>
    </Button>
  );
}

/** Copies a text. Works without the clipboard API too, which browsers offer on secure origins only. */
async function copyText(text: string): Promise<void> {
  try {
    return await navigator.clipboard.writeText(text);
  } catch {
    // The browser has no clipboard API here, or refuses it.
  }
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "visually-hidden";
  // Inside an open dialog, the rest of the document cannot be selected.
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

interface DialogProps {
  title: string;
  onClose: () => void;
  isWide?: boolean;
  children: ComponentChildren;
}

/** A modal dialog, open while it is rendered. Its first field gets the focus. Escape and its close button call `onClose`. */
export function Dialog({ title, onClose, isWide = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    dialog.current?.querySelector<HTMLElement>("input, select, textarea")?.focus();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isWide ? "dialog dialog-wide" : "dialog"}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="dialog-header">
        <h2 id={titleId}>{title}</h2>
        <Button kind="ghost" icon="close" label="Close" onClick={onClose} />
      </div>
      {children}
    </dialog>
  );
}
