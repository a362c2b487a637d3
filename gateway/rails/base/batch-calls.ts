/**
 * Asks for many at once: what arrives while an answer is awaited goes together in the next question.
 * Concurrency: one question is open at a time; an answer that fails fails for its own members only.
 */
export class Gather<I, O> {
  readonly #ask: (items: readonly I[]) => Promise<readonly O[]>;
  readonly #items_max: number;
  #waiting: { item: I; resolve: (answer: O) => void; reject: (error: unknown) => void }[] = [];
  #asking = false;

  constructor(ask: (items: readonly I[]) => Promise<readonly O[]>, items_max: number) {
    this.#ask = ask;
    this.#items_max = items_max;
  }

  submit(item: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#asking) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#asking = true;
    // One turn of the loop lets callers of the same tick join the first question.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const asked = this.#waiting.splice(0, this.#items_max);
      try {
        const answers = await this.#ask(asked.map(({ item }) => item));
        asked.forEach(({ resolve }, index) => {
          resolve(answers[index] as O);
        });
      } catch (error) {
        for (const { reject } of asked) reject(error);
      }
    }
    this.#asking = false;
  }
}
