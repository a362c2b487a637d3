/* How an answer ended: one shape, from the hub that streams it to the record of its call. */

/**
 * What broke off a streamed answer: its hub; the request, which the hub refused during the answer; a limit of this service on time or size;
 * or the stop of this process.
 */
export type BrokenBy = 'hub' | 'request' | 'limit' | 'stop';

/** Error of a hub, in the format of OpenAI's API. A member is null if the hub did not give it, or if it must not be passed on. */
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
  /** Error that the hub gave, as far as it may be shown to the caller. */
  readonly hub_error: HubError | null;
}

export type AnswerEnd = { readonly kind: 'whole' } | BrokenOff;

export const WHOLE = { kind: 'whole' } as const satisfies AnswerEnd;

/** Form in which the end is stored with the answer. It must not change, because stored answers of former versions are read by it. */
export type KeptEnd = {
  /** Absent for a complete answer. */
  readonly broke_off?: Pick<BrokenOff, 'by' | 'hub_error'>;
};

export function keptEnd(end: AnswerEnd): KeptEnd {
  return end.kind === 'whole' ? {} : { broke_off: { by: end.by, hub_error: end.hub_error } };
}

/** @param marked whether a former version marked the answer as broken; it did not store the reason */
export function endOf({ broke_off }: KeptEnd, marked = false): AnswerEnd {
  if (broke_off) return { kind: 'broke_off', ...broke_off };
  return marked ? { kind: 'broke_off', by: 'hub', hub_error: null } : WHOLE;
}
