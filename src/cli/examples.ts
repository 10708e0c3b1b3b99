/** The end of a help text: commands to copy, each a line. */
export function examples(...commands: readonly string[]): string {
  return `\n${commands.length === 1 ? "Example" : "Examples"}:\n${commands.map((command) => `  $ ${command}`).join("\n")}`;
}
