import { signal } from "@preact/signals";
import { toApiFailure } from "../api/failure.ts";

/** The result of an action. */
export interface Toast {
  id: number;
  kind: "done" | "failed";
  text: string;
  link?: { hash: string; label: string };
}

/** The toasts on the page, oldest first. */
export const toasts = signal<readonly Toast[]>([]);

const shownMs = 8_000;
const maxToasts = 4;
let lastId = 0;

/** Shows the result of an action. Errors stay until they are closed. `ms`: how long others are shown. */
export function showToast(toast: Omit<Toast, "id">, { ms = shownMs }: { ms?: number } = {}): void {
  lastId += 1;
  const id = lastId;
  toasts.value = [...toasts.value, { ...toast, id }].slice(-maxToasts);
  if (toast.kind === "done") setTimeout(() => closeToast(id), ms);
}

/** Shows why an action failed. */
export function showFailure(error: unknown): void {
  showToast({ kind: "failed", text: toApiFailure(error).message });
}

export function closeToast(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}
