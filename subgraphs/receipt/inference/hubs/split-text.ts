/** Joins pieces of text. If a piece ends with the first half of a surrogate pair, that half is held back until the next piece. */
export class SplitText {
  whole = '';
  #half = '';

  take(piece: string): string {
    const text = this.#half + piece;
    this.#half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : '';
    const whole = text.slice(0, text.length - this.#half.length).toWellFormed();
    this.whole += whole;
    return whole;
  }
}
