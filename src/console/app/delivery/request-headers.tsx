import type { DeliveryDetails } from "../../protocol/deliveries.ts";
import { Text } from "../ui.tsx";

/** The headers of the request. The server has redacted secrets. */
export function RequestHeaders({
  headers,
  title = "Request headers",
}: {
  headers: NonNullable<DeliveryDetails["headers"]>;
  title?: string;
}) {
  return (
    <section class="pane-section">
      <h3>{title}</h3>
      <dl class="headers">
        {headers.map(([name, value]) => (
          <div key={`${name} ${value}`}>
            <dt>
              <Text value={name} />
            </dt>
            <dd>
              <Text value={value} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
