import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { showFailure } from "../state/toasts.ts";
import { Icon, type IconName } from "./icon.tsx";

interface ButtonProps {
  children?: ComponentChildren;
  icon?: IconName;
  /** `primary` for the main action of a page, `danger` for one that cannot be undone. Default `plain`. */
  kind?: "plain" | "primary" | "danger" | "ghost";
  /** The accessible name of a button without text. It is also the tooltip. */
  label?: string;
  /** The tooltip of a button with text. */
  title?: string;
  /** The key of the button's shortcut. */
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
  const {
    children,
    icon,
    kind = "plain",
    label,
    title,
    shortcut,
    type = "button",
    disabled,
    pressed,
    onClick,
    id,
  } = props;
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
