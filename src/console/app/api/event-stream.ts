/** Splits the text of a Server-Sent Events response into the `data` of its events. */
export class EventStreamParser {
  #rest = "";

  /** Adds a part of the response. Returns the data of the events that it completes. */
  push(text: string): string[] {
    const blocks = (this.#rest + text).replaceAll("\r\n", "\n").split("\n\n");
    this.#rest = blocks.pop() ?? "";
    return blocks.map(readData).filter((data) => data !== "");
  }
}

function readData(block: string): string {
  return block
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(line.startsWith("data: ") ? 6 : 5))
    .join("\n");
}
