interface Link<Item> {
  item: Item;
  next?: Link<Item>;
}

/** First in, first out. The `shift` of a long array moves all that is left in it; this one does not. */
export class Queue<Item> {
  #first: Link<Item> | undefined;
  #last: Link<Item> | undefined;

  push(item: Item): void {
    const link: Link<Item> = { item };
    if (this.#last) this.#last.next = link;
    else this.#first = link;
    this.#last = link;
  }

  shift(): Item | undefined {
    const link = this.#first;
    this.#first = link?.next;
    if (!this.#first) this.#last = undefined;
    return link?.item;
  }
}
