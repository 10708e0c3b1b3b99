import type { EndpointInfo, RegistrationInfo } from "../../protocol/endpoints.ts";
import { ExternalLink } from "../components/external-link.tsx";
import { Icon } from "../components/icon.tsx";
import { Message } from "../components/message.tsx";
import { Text } from "../components/text.tsx";
import { formatRoute } from "../state/route.ts";
import { session } from "../state/session.ts";
import { registrationLooks } from "./registration.ts";

/** The state of the webhook on the Hub and of the secret, each with what to do next. */
export function Registration({
  endpoint: { registration, secret },
  hidesMessage,
}: {
  endpoint: EndpointInfo;
  hidesMessage: boolean;
}) {
  const look = registration && registrationLooks[registration.state];
  return (
    <div class="registration">
      {registration && look && (
        <div class="registration-state">
          <span class="status" data-color={look.color}>
            <Icon name={look.icon} />
            {look.label}
          </span>
          <WebhookLink registration={registration} />
          {registration.message !== undefined && !hidesMessage && (
            <p class="quiet">
              <Message text={registration.message} />
            </p>
          )}
          {registration.state === "url-differs" && registration.url !== undefined && (
            <p class="quiet">
              The webhook sends to{" "}
              <code>
                <Text value={registration.url} />
              </code>
            </p>
          )}
        </div>
      )}
      <div class="registration-state">
        {secret === "set" ? (
          <span class="status" data-color="good">
            <Icon name="succeeded" /> Secret set
          </span>
        ) : (
          <>
            <span class="status" data-color="bad">
              <Icon name="failed" /> No secret
            </span>
            <p class="quiet">
              Anyone can send deliveries. Set <code>WEBHOOK_SECRET</code> on the server and on the webhook.
            </p>
          </>
        )}
      </div>
    </div>
  );
}

/** Links to the webhook: in a dev session, to the view of the local Hub, which needs no other sign-in. */
function WebhookLink({ registration: { webhookId, settingsUrl } }: { registration: RegistrationInfo }) {
  if (webhookId === undefined || settingsUrl === undefined) return null;
  const info = session.value;
  if (info?.signedIn && info.features.includes("webhooks")) {
    return <a href={formatRoute("webhooks/one", { id: webhookId })}>Webhook</a>;
  }
  return <ExternalLink url={settingsUrl}>Webhook settings</ExternalLink>;
}
