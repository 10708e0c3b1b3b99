/** The path prefix of every endpoint. The Hub's Python library uses the same prefix. */
export const webhooksPath = "/webhooks/";

/** The Hub page where users add webhooks. `HF_ENDPOINT` does not change this URL. */
export const webhookSettingsUrl = "https://huggingface.co/settings/webhooks";

/** The path of the console, without a trailing slash. */
export const consolePath = "/_console";
