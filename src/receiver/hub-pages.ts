/** Where a webhook is registered by hand: always on the Hub itself, whatever `HF_ENDPOINT` says. */
export const webhookSettingsPage = "https://huggingface.co/settings/webhooks";
