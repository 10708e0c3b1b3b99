import type { WebhookInfo, WebhookState } from "../../../protocol/hub.ts";
import { Icon, type IconName, Text, UrlText } from "../../ui.tsx";

/** The target of a webhook: a URL or a job. */
export function WebhookTarget({ target }: Pick<WebhookInfo, "target">) {
  if (target.kind === "url") return <UrlText value={target.url} />;
  return (
    <>
      <span class="tag">job</span> <Text value={target.kind === "job" ? target.description : target.id} />
    </>
  );
}

/** The text of a target, for filters and confirmations. */
export function targetText({ target }: Pick<WebhookInfo, "target">): string {
  if (target.kind === "url") return target.url;
  return target.kind === "job" ? target.description : target.id;
}

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
