import { type AnswerEnd, type BrokenOff, WHOLE } from '../../answer-end.ts';

/* How an answer ended, in the form in which it is kept with the answer: answers of former versions are read by it, so it stays. */

export type KeptEnd = {
  /** Left out of an answer that is whole. */
  readonly broke_off?: Pick<BrokenOff, 'by' | 'hub_error'>;
};

export function keptEnd(end: AnswerEnd): KeptEnd {
  return end.kind === 'whole' ? {} : { broke_off: { by: end.by, hub_error: end.hub_error } };
}

/** @param marked whether a former version marked it as broken, which did not keep why */
export function endOf({ broke_off }: KeptEnd, marked = false): AnswerEnd {
  if (broke_off) return { kind: 'broke_off', ...broke_off };
  return marked ? { kind: 'broke_off', by: 'hub', hub_error: null } : WHOLE;
}
