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
