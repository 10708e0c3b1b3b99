import type { WebhookState } from "../../../protocol/hub.ts";
import { Icon, type IconName } from "../../components/icon.tsx";

const looks: Readonly<Record<WebhookState, { label: string; color: string; icon: IconName }>> = {
  enabled: { label: "Enabled", color: "good", icon: "succeeded" },
  disabled: { label: "Disabled", color: "ignored", icon: "pause" },
  suspended: { label: "Suspended", color: "bad", icon: "dead" },
};

/** The state of a webhook, in its color. */
export function WebhookStateLabel({ state }: { state: WebhookState }) {
  const { label, color, icon } = looks[state];
  return (
    <span class="status" data-color={color}>
      <Icon name={icon} />
      {label}
    </span>
  );
}
