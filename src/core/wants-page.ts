/**
 * Whether a request comes from a browser that shows the answer: it accepts HTML by name, which no program and no Hub
 * does by default.
 */
export function wantsPage({ method, accept }: { method: string; accept: string | null | undefined }): boolean {
  return (method === "GET" || method === "HEAD") && /\btext\/html\b/i.test(accept ?? "");
}
