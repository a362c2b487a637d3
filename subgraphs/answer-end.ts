/* How an answer ended. All code uses this shape, from the hub's stream to the record of the call. */

/**
 * What broke off a streamed answer. `hub`: its hub. `request`: the hub refused the request during the answer. `limit`: a limit of this
 * service on time or size. `stop`: this process was stopped.
 */
export type BrokenBy = 'hub' | 'request' | 'limit' | 'stop';

/** Error of a hub, in the format of OpenAI's API. A member is null if the hub did not give it, or if it must not be passed on. */
export type HubError = {
  readonly code: string | null;
  readonly type: string | null;
  readonly param: string | null;
  readonly message: string | null;
};

/** End of an answer that broke off. What had arrived of the answer is delivered. */
export interface BrokenOff {
  readonly kind: 'broke_off';
  readonly by: BrokenBy;
  /** Error that the hub gave, as far as it may be shown to the caller. */
  readonly hub_error: HubError | null;
}

export type AnswerEnd = { readonly kind: 'whole' } | BrokenOff;

export const WHOLE = { kind: 'whole' } as const satisfies AnswerEnd;

/**
 * Form in which the end is stored with the answer. It must not change, because answers that former versions stored are read in this form.
 */
export type KeptEnd = {
  /** Absent for a complete answer. */
  readonly broke_off?: Pick<BrokenOff, 'by' | 'hub_error'>;
};

export function keptEnd(end: AnswerEnd): KeptEnd {
  return end.kind === 'whole' ? {} : { broke_off: { by: end.by, hub_error: end.hub_error } };
}

/** @param marked true if a former version, which did not store the reason, marked the answer as broken */
export function endOf({ broke_off }: KeptEnd, marked = false): AnswerEnd {
  if (broke_off) return { kind: 'broke_off', ...broke_off };
  return marked ? { kind: 'broke_off', by: 'hub', hub_error: null } : WHOLE;
}
