/** Thrown where a text is no JSON array, or one of its elements is longer than allowed. */
export class JsonArrayError extends Error {}

/**
 * Takes a JSON array as it arrives, in pieces cut anywhere, and gives the text of each element once it is whole. It
 * finds the ends of elements only: that what stands between them is JSON is for `JSON.parse` to say.
 */
export class JsonArraySplitter {
  readonly #maxElementChars: number;
  #state: "before" | "inside" | "after" = "before";
  /** What has arrived of the element in hand. */
  #begun = "";
  /** Brackets and braces that are open in it. */
  #depth = 0;
  #inText = false;
  #escaped = false;
  #hasElements = false;

  /** `maxElementChars` is in UTF-16 code units. */
  constructor({ maxElementChars }: { maxElementChars: number }) {
    this.#maxElementChars = maxElementChars;
  }

  /**
   * The elements that this piece completes.
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
        this.#complete(this.#begun + piece.slice(from, index), { isLast: character === "]", elements });
        this.#begun = "";
        from = index + 1;
      }
    }
    if (this.#state === "inside") this.#begun += piece.slice(from);
    if (this.#begun.length > this.#maxElementChars) throw new JsonArrayError("one of its elements has no end");
    return elements;
  }

  /** Whether it has begun and not ended yet. */
  get isOpen(): boolean {
    return this.#state === "inside";
  }

  /**
   * To be called after the last piece.
   *
   * @throws JsonArrayError
   */
  end(): void {
    if (this.#state !== "after") throw new JsonArrayError("it is cut off");
  }

  #outside(character: string): void {
    if (/\s/.test(character)) return;
    if (this.#state === "after" || character !== "[") throw new JsonArrayError("it is no array");
    this.#state = "inside";
  }

  /** Whether the element in hand ends before this character, which is then a comma or the array's own bracket. */
  #endsElement(character: string): boolean {
    if (this.#inText) {
      if (this.#escaped) this.#escaped = false;
      else if (character === "\\") this.#escaped = true;
      else if (character === '"') this.#inText = false;
      return false;
    }
    if (character === '"') this.#inText = true;
    else if (character === "[" || character === "{") this.#depth += 1;
    else if (this.#depth === 0) return character === "," || character === "]";
    else if (character === "]" || character === "}") this.#depth -= 1;
    return false;
  }

  #complete(element: string, { isLast, elements }: { isLast: boolean; elements: string[] }): void {
    const isEmpty = element.trim() === "";
    if (isLast) this.#state = "after";
    if (isLast && isEmpty && !this.#hasElements) return;
    if (isEmpty) throw new JsonArrayError("one of its elements is missing");
    this.#hasElements = true;
    elements.push(element);
  }
}
