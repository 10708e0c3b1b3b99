import type { ConsoleStatus } from "../../protocol/deliveries.ts";
import { Icon } from "../ui.tsx";
import { statusLooks } from "./status.ts";

/** The icon and the word of a status, in its color. `text` replaces the word. */
export function StatusLabel({ status, text }: { status: ConsoleStatus; text?: string | undefined }) {
  const { label, color, icon } = statusLooks[status];
  return (
    <span class="status" data-color={color}>
      <Icon name={icon} />
      {text ?? label}
    </span>
  );
}
