/** The public address of the test servers. */
export const baseUrl = "http://127.0.0.1:7860";

export function urlOf(endpoint: string): string {
  return `${baseUrl}/webhooks/${endpoint}`;
}
