/** What has been opened, to be closed in the reverse order. One that fails to close keeps none of the others open. */
export class Closing {
  readonly #steps: (() => Promise<void> | void)[] = [];

  add<T>(opened: T, close: (opened: T) => Promise<void> | void): T {
    this.#steps.push(() => close(opened));
    return opened;
  }

  async close(): Promise<void> {
    const faults: unknown[] = [];
    for (const step of this.#steps.splice(0).reverse()) {
      try {
        await step();
      } catch (fault) {
        faults.push(fault);
      }
    }
    if (faults.length > 0) throw new AggregateError(faults, 'not everything could be closed');
  }
}
