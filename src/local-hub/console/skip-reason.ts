const texts: Readonly<Record<string, string>> = {
  "not-watched": "Does not watch this repository or its owner.",
  domain: "Its domains exclude this event.",
  private: "The repository is private, and the owner of the webhook cannot read it.",
  disabled: "Disabled.",
  suspended: "Suspended after failed deliveries.",
  "daily-limit": "Has reached its daily limit.",
};

/** Describes why a webhook does not fire. */
export function skipReasonText(reason: string): string {
  return texts[reason] ?? reason;
}
