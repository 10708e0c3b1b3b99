import { readEnvironment } from "../../core/environment.ts";
import { optionError } from "../../core/option-error.ts";
import type { OpenTunnelOptions } from "../../tunnel/tunnel.ts";

/**
 * Reads what `TUNNEL` says of a launch's tunnel: `1` for the default provider, the name of another one, or nothing
 * (`0`, `false` or not set).
 *
 * @throws `OPTION_INVALID` when it is none of these.
 */
export function readTunnelSetting(): boolean | Pick<OpenTunnelOptions, "provider"> {
  const value = readEnvironment("TUNNEL") ?? "0";
  if (value === "1" || value === "true") return true;
  if (value === "0" || value === "false") return false;
  if (value === "localtunnel" || value === "cloudflared" || value === "ngrok") return { provider: value };
  throw optionError(
    "TUNNEL is not usable: give 1, localtunnel, cloudflared or ngrok, or 0 for none; the address of a tunnel of your own belongs into PUBLIC_URL.",
  );
}
