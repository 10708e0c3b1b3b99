/** Thrown if a text is not a JSON array, or an element is too long. */
export class JsonArrayError extends Error {}

/**
 * Splits the text of a JSON array into its elements. The text can arrive in pieces of any length. The splitter does not
 * validate the elements: pass each one to `JSON.parse`.
 */
export class JsonArraySplitter {
  readonly #maxElementChars: number;
  #state: "before" | "inside" | "after" = "before";
  /** The start of the current element. */
  #partial = "";
  /** The number of open brackets and braces in the current element. */
  #depth = 0;
  #inString = false;
  #escaped = false;
  #hasElements = false;

  /** `maxElementChars` is in UTF-16 code units. */
  constructor({ maxElementChars }: { maxElementChars: number }) {
    this.#maxElementChars = maxElementChars;
  }

  /**
   * Adds a piece, and returns the elements that it completes.
   *
   * @throws JsonArrayError
   */
  push(piece: string): string[] {
    const elements: string[] = [];
    let from = 0;
    for (let index = 0; index < piece.length; index += 1) {
      const character = piece.charAt(index);
      if (this.#state !== "inside") {
        from = index + 1;
        this.#outside(character);
      } else if (this.#endsElement(character)) {
        this.#complete(this.#partial + piece.slice(from, index), { isLast: character === "]", elements });
        this.#partial = "";
        from = index + 1;
      }
    }
    if (this.#state === "inside") this.#partial += piece.slice(from);
    if (this.#partial.length > this.#maxElementChars) throw new JsonArrayError("an element is too long");
    return elements;
  }

  /** Whether the array has started and not ended. */
  get isOpen(): boolean {
    return this.#state === "inside";
  }

  /**
   * Call this after the last piece.
   *
   * @throws JsonArrayError
   */
  end(): void {
    if (this.#state !== "after") throw new JsonArrayError("the array is incomplete");
  }

  #outside(character: string): void {
    if (/\s/.test(character)) return;
    if (this.#state === "after" || character !== "[") throw new JsonArrayError("the text does not start with [");
    this.#state = "inside";
  }

  /** Whether the current element ends before this character: a comma, or the bracket that ends the array. */
  #endsElement(character: string): boolean {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (character === "\\") this.#escaped = true;
      else if (character === '"') this.#inString = false;
      return false;
    }
    if (character === '"') this.#inString = true;
    else if (character === "[" || character === "{") this.#depth += 1;
    else if (this.#depth === 0) return character === "," || character === "]";
    else if (character === "]" || character === "}") this.#depth -= 1;
    return false;
  }

  #complete(element: string, { isLast, elements }: { isLast: boolean; elements: string[] }): void {
    const isEmpty = element.trim() === "";
    if (isLast) this.#state = "after";
    if (isLast && isEmpty && !this.#hasElements) return;
    if (isEmpty) throw new JsonArrayError("an element is missing");
    this.#hasElements = true;
    elements.push(element);
  }
}
