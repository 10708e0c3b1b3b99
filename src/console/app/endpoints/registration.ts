import type { RegistrationInfo } from "../../protocol/endpoints.ts";
import type { IconName } from "../components/icon.tsx";

/** The label, color, and icon of a registration's state. */
export interface RegistrationLook {
  label: string;
  color: "good" | "bad" | "retry" | "quiet";
  icon: IconName;
}

/** The looks of all states. */
export const registrationLooks: Readonly<Record<RegistrationInfo["state"], RegistrationLook>> = {
  enabled: { label: "Registered", color: "good", icon: "succeeded" },
  disabled: {
    label: "Disabled on the Hub",
    color: "retry",
    icon: "pause",
  },
  suspended: {
    label: "Suspended by the Hub",
    color: "bad",
    icon: "dead",
  },
  "url-differs": {
    label: "Registered for another URL",
    color: "bad",
    icon: "failed",
  },
  missing: {
    label: "Not registered",
    color: "retry",
    icon: "cancelled",
  },
  unknown: { label: "Registration unknown", color: "quiet", icon: "help" },
};
