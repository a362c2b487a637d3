/** Text that comes in pieces: a surrogate pair may be cut in two, and its first half waits for the other. */
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
