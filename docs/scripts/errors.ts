/** Where an error occurs, by the values in `WebhookErrorCodes`, and the title of its table. */
const places = {
  response: "Responses to requests",
  thrown: "Thrown by this package",
  hub: "Calls of the Hub",
  logged: "Logged and stored with an attempt",
};

interface ErrorCode {
  code: string;
  place: string;
  cause: string;
}

/** Renders the page of error codes from the doc comments of `WebhookErrorCodes`. */
export function renderErrors(source: string): string {
  const [, body = ""] = /export interface WebhookErrorCodes \{\n(.*?)\n\}/s.exec(source) ?? [];
  const codes = [...body.matchAll(/\/\*\*(?:\s|\*\s)*(.*?)\s*\*\/\s*(\w+): ([^;]+);/gs)].map(
    ([, comment = "", code = "", where = ""]): ErrorCode => ({
      code,
      place: /"(\w+)"/.exec(where)?.[1] ?? "",
      cause: comment.replaceAll(/\s*\n\s*\*\s*/g, " "),
    }),
  );
  if (codes.length === 0) throw new Error("WebhookErrorCodes has no documented codes.");
  return `# Errors

Every error of the package is a \`WebhookError\` with a stable \`code\`. Branch on the code, never on the message:

\`\`\`ts
import { WebhookError } from "hub-webhooks";

try {
  await server.launch();
} catch (error) {
  if (WebhookError.isInstance(error) && error.code === "PORT_IN_USE") console.error("Choose another port.");
  else throw error;
}
\`\`\`

A \`HubError\` of the client also has \`status\`, \`requestId\`, \`retryAfterSeconds\` and \`fields\`. An error response
contains \`{"error", "code"}\` and no stack.
${Object.entries(places)
  .map(([place, title]) =>
    renderTable(
      title,
      codes.filter((entry) => entry.place === place),
    ),
  )
  .join("")}`;
}

function renderTable(title: string, codes: readonly ErrorCode[]): string {
  const rows = codes.map(({ code, cause }) => `| \`${code}\` | ${cause.replaceAll("|", "\\|")} |`);
  return `\n## ${title}\n\n| code | cause and fix |\n|---|---|\n${rows.join("\n")}\n`;
}
