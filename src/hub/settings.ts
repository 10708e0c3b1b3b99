import type { CallOptions } from "./call-options.ts";
import {
  type McpSettings,
  type NotificationSettingsChange,
  settingsRoutes,
  type WatchChange,
} from "./contract/settings.ts";
import type { Transport } from "./transport.ts";

/**
 * The settings of the user whose token it is: `hub.settings` (hub-api.md, Settings).
 */
export class HubSettings {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The tools that the Hub's MCP server offers you. */
  mcp(options?: CallOptions): Promise<McpSettings> {
    return this.#transport.call(settingsRoutes.mcp, {}, options);
  }

  /**
   * Changes what you are notified of; what is left out stays as it is. To enable `launch_prepaid_credits`, give a
   * `prepaidAmount` of up to 24 characters.
   *
   * @example
   * ```ts
   * await hub.settings.updateNotifications({ notifications: { daily_papers_digest: false } });
   * ```
   */
  async updateNotifications(change: NotificationSettingsChange, options?: CallOptions): Promise<void> {
    await this.#transport.call(settingsRoutes.updateNotifications, { body: change }, options);
  }

  /**
   * Changes whose discussions you hear of.
   *
   * @example
   * ```ts
   * await hub.settings.updateWatch({ add: [{ type: "org", id: "65b2f0a1c3d4e5f60718293a" }] });
   * ```
   */
  async updateWatch(change: WatchChange, options?: CallOptions): Promise<void> {
    await this.#transport.call(settingsRoutes.updateWatch, { body: change }, options);
  }
}
