import { useEffect, useState } from "preact/hooks";
import { announce } from "../state/announcer.ts";
import { showToast } from "../state/toasts.ts";
import { Button } from "./button.tsx";

const confirmedMs = 2_000;

/** Copies a text. `label` is the accessible name, such as "Copy ID"; with `isNamed`, it is visible too. */
export function CopyButton({
  text,
  label,
  isNamed = false,
  nextStep,
}: {
  /** The text, or a function that creates it when the button is used. */
  text: string | (() => string);
  label: string;
  isNamed?: boolean;
  /** What to do before using the text. It is shown when the text is copied. */
  nextStep?: string;
}) {
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
    await navigator.clipboard.writeText(text);
    return;
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
