/* How an answer ended: one shape, from the hub that streams it to the record of its call. */

/**
 * By whose doing a streamed answer ended in its midst: the hub's, the request's as its hub judged it on the way, a limit of ours on
 * time or size, or the stop of this process.
 */
export type BrokenBy = 'hub' | 'request' | 'limit' | 'stop';

/** The error of a hub in the words of OpenAI's API. Null where the hub said nothing, or nothing that may be passed on. */
export type HubError = {
  readonly code: string | null;
  readonly type: string | null;
  readonly param: string | null;
  readonly message: string | null;
};

/** The end of an answer that is delivered as far as it came. */
export interface BrokenOff {
  readonly kind: 'broke_off';
  readonly by: BrokenBy;
  /** What the hub said of it, as far as its caller may know. */
  readonly hub_error: HubError | null;
}

export type AnswerEnd = { readonly kind: 'whole' } | BrokenOff;

export const WHOLE = { kind: 'whole' } as const satisfies AnswerEnd;

/** The form in which it is kept with the answer. Answers of former versions are read by it, so it stays. */
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
