/** Where the servers here say that they are reached. */
export const baseUrl = "http://127.0.0.1:7860";

export function urlOf(endpoint: string): string {
  return `${baseUrl}/webhooks/${endpoint}`;
}
