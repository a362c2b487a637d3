import type { ExecutionResult } from 'graphql';

/**
 * Each event through `map`. The source is given back on return(), on throw() and where `map` fails.
 * Not a generator: a generator's return() waits for the event that may never come.
 */
export function mapEvents(
  source: AsyncIterable<ExecutionResult>,
  map: (event: ExecutionResult) => Promise<ExecutionResult>,
): AsyncIterableIterator<ExecutionResult> {
  const events = source[Symbol.asyncIterator]();
  const release = async (): Promise<IteratorResult<ExecutionResult>> => {
    await events.return?.();
    return { done: true, value: undefined };
  };
  return {
    async next() {
      const event = await events.next();
      if (event.done) return { done: true, value: undefined };
      try {
        return { done: false, value: await map(event.value) };
      } catch (error) {
        await release();
        throw error;
      }
    },
    return: release,
    async throw(error) {
      await release();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
