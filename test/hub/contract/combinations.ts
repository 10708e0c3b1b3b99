/** A combination of fields, as changes to the first variant of a body. `undefined` removes a field. */
export interface Combination {
  body: string;
  changes: Readonly<Record<string, unknown>>;
  /** The field that the error names. Missing if the combination is valid. */
  refused?: string;
}

const bucket = { type: "bucket", source: "a/b", mountPath: "/x" };
const target = { jobSourceId: "job-1", job: { flavor: "cpu-basic" } };
const launch = { notifications: { launch_prepaid_credits: true } };

/** The rules for several fields together. */
export const combinations: readonly Combination[] = [
  { body: "WebhookRequest", changes: { url: undefined }, refused: "url" },
  { body: "WebhookUpdate", changes: { url: undefined } },
  ...["WebhookRequest", "WebhookUpdate"].flatMap((body) => [
    { body, changes: { jobSourceId: target.jobSourceId }, refused: "url" },
    { body, changes: { job: target.job }, refused: "url" },
    { body, changes: { url: undefined, ...target }, refused: "url" },
  ]),
  {
    body: "WebhookJobRequest",
    changes: { volumes: [{ ...bucket, revision: "main" }] },
    refused: "volumes[0].revision",
  },
  { body: "WebhookJobRequest", changes: { volumes: [bucket] } },
  { body: "NotificationSettingsChange", changes: { ...launch, prepaidAmount: undefined }, refused: "prepaidAmount" },
  { body: "NotificationSettingsChange", changes: launch },
  { body: "NotificationSettingsChange", changes: { notifications: {}, prepaidAmount: undefined } },
  { body: "ResourceGroup", changes: { resources: undefined } },
  { body: "ResourceGroup", changes: { repos: undefined } },
  { body: "ResourceGroup", changes: { resources: undefined, repos: undefined }, refused: "resources" },
  { body: "JobHardware", changes: { accelerator: null } },
];
