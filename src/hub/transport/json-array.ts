/** The error for a text that is not a JSON array, or for an element that is too long. */
export class JsonArrayError extends Error {}

/**
 * Splits the text of a JSON array into elements. The text can arrive in pieces of any length. The elements are not validated. Pass
 * each element to `JSON.parse`.
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

  /** @param options.maxElementChars the maximum length of an element, in UTF-16 code units. */
  constructor({ maxElementChars }: { maxElementChars: number }) {
    this.#maxElementChars = maxElementChars;
  }

  /**
   * Adds a piece of the text. Returns the elements that are complete after this piece.
   *
   * @throws `JsonArrayError` if the text is not a JSON array or an element is too long.
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

  /** Whether the array has started but has not ended. */
  get isOpen(): boolean {
    return this.#state === "inside";
  }

  /**
   * Call this method after the last piece.
   *
   * @throws `JsonArrayError` if the array is incomplete.
   */
  end(): void {
    if (this.#state !== "after") throw new JsonArrayError("the array is incomplete");
  }

  #outside(character: string): void {
    if (/\s/.test(character)) return;
    if (this.#state === "after") throw new JsonArrayError("other text follows the array");
    if (character !== "[") throw new JsonArrayError("the text does not start with [");
    this.#state = "inside";
  }

  /** Whether this character is the comma or bracket that ends the current element. */
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
