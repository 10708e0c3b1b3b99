import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Button } from "./button.tsx";

/** A modal dialog, open while it is rendered. Its first field gets the focus. Escape and its close button call `onClose`. */
export function Dialog({
  title,
  onClose,
  isWide = false,
  children,
}: {
  title: string;
  onClose: () => void;
  isWide?: boolean;
  children: ComponentChildren;
}) {
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
