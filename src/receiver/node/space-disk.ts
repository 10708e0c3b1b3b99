/** The warning about an inbox on the disk of a Space. */
export const spaceDiskWarning =
  "The inbox is on the disk of this Space. Every restart erases the disk, including queued deliveries. Set INBOX_URL (Settings, Variables and secrets) to a Storage Bucket, such as hf://buckets/me/inbox, and AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to its S3 credentials. Redis and PostgreSQL servers need port 80, 443, or 8080, because a Space cannot connect to other ports.";
