import type { NodeRefusal, Reached } from './rpc.ts';

/** To a read a node's refusal is no answer either (rate limit, block not there yet): nothing is known. */
export function answered<T>(answer: Reached<T> | NodeRefusal): Reached<T> {
  return answer.kind === 'refused' ? { kind: 'unreachable', cause: new Error(answer.message) } : answer;
}

export function map<A, B>(reached: Reached<A>, change: (value: A) => B): Reached<B> {
  return reached.kind === 'ok' ? { kind: 'ok', value: change(reached.value) } : reached;
}

/** All of them, or the first that could not be reached. */
export function all<T>(each: readonly Reached<T>[]): Reached<T[]> {
  const value: T[] = [];
  for (const one of each) {
    if (one.kind !== 'ok') return one;
    value.push(one.value);
  }
  return { kind: 'ok', value };
}
