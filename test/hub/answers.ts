/* Responses of the Hub, written from the tables of the specification and not from the schemas. */

/** A webhook that posts to a URL. */
export const urlWebhook = {
  id: "65b2f0a1c3d4e5f60718293a",
  url: "https://acme-bot.hf.space/webhooks/retrain",
  disabled: false,
  watched: [
    { name: "acme/data", type: "dataset", avatarUrl: "https://cdn.example/acme.png" },
    { name: "acme", type: "org" },
  ],
  secret: "s3cret-of-acme",
  domains: ["repo", "discussion"],
  lastTriggerAt: "2026-01-31T09:15:27.123Z",
};

/** A webhook that runs a job: secrets by name only, and neither `arch` nor `attempts` nor `volumes`. */
export const jobWebhook = {
  id: "65b2f0a1c3d4e5f60718293b",
  job: {
    dockerImage: "python:3.13",
    command: ["python", "train.py"],
    environment: { EPOCHS: "3" },
    flavor: "a10g-small",
    timeoutSeconds: 3600,
    labels: { team: "vision" },
    secrets: ["HF_TOKEN", "WANDB_KEY"],
  },
  disabled: false,
  watched: [{ name: "acme/data", type: "dataset" }],
  domains: ["repo"],
};

/** A webhook that runs a copy of another job. The Hub returns that job in addition to its ID. */
export const sourceWebhook = {
  id: "65b2f0a1c3d4e5f60718293c",
  job: { environment: {}, flavor: "cpu-basic", timeoutSeconds: null, secrets: ["HF_TOKEN"] },
  jobSourceId: "job-source-1",
  disabled: true,
  watched: [{ name: "ada", type: "user" }],
  domains: ["discussion"],
};
