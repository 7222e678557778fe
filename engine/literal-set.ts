interface Node {
  next: Map<number, Node>;
  isWord: boolean;
}

const makeNode = (): Node => ({ next: new Map(), isWord: false });

/** A set of texts that can be looked for at a position; time grows with the length of the match, not with the set. */
export class LiteralSet {
  readonly #root = makeNode();

  constructor(words: Iterable<string>) {
    for (const word of words) {
      if (word !== '') this.#add(word);
    }
  }

  #add(word: string): void {
    let node = this.#root;
    for (let i = 0; i < word.length; i += 1) {
      const unit = word.charCodeAt(i);
      let child = node.next.get(unit);
      if (child === undefined) {
        child = makeNode();
        node.next.set(unit, child);
      }
      node = child;
    }
    node.isWord = true;
  }

  /** Whether some member begins at `text[at]`. */
  startsAt(text: string, at: number): boolean {
    let node: Node | undefined = this.#root;
    for (let i = at; i < text.length; i += 1) {
      node = node.next.get(text.charCodeAt(i));
      if (node === undefined) return false;
      if (node.isWord) return true;
    }
    return false;
  }
}
