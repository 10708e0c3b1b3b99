/** How long a finished delivery is kept unless its endpoint sets another `retention`, in milliseconds: 14 days. */
export const defaultRetentionMs = 14 * 24 * 3_600_000;
