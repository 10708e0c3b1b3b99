import type { Redact } from "./redaction.ts";

/** The error of a `fetch`, told again: the original may hold the request with its headers. */
export function retell(error: unknown, redact: Redact): Error {
  const chain = [error, error instanceof Error ? error.cause : undefined].filter((part) => part instanceof Error);
  const message = chain.map((part) => part.message || codeOf(part)).filter((part) => part !== "");
  const code = chain.map(codeOf).find((part) => part !== "");
  const copy = new Error(redact(message.join(": ")) || "no reason given");
  return code ? Object.assign(copy, { code: redact(code) }) : copy;
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}
