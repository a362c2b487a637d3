import type { BrokenBy } from '../../../sale.ts';
import type { HubFailure } from './ask.ts';
import { type HubError, type VerdictRules, verdictInStream } from './verdict.ts';

/** Why a streamed answer is not whole: kept with the part of it that came. */
export type BrokeOff = {
  readonly by: BrokenBy;
  /** What the hub said of it, as far as its caller may know. */
  readonly hub_error: { readonly [K in keyof HubError]: HubError[K] } | null;
};

/** How an answer ended that is not whole, as whoever read it found. */
export interface Break {
  readonly reason: HubFailure;
  /** It went on until a limit of ours was reached. */
  readonly at_limit: boolean;
  /** The event in place of a chunk; null where none came. */
  readonly event: string | null;
}

/** Pure. */
export function brokeOff({ reason, at_limit, event }: Break, rules: Omit<VerdictRules, 'now_ms'>): BrokeOff {
  if (reason === 'cancelled') return { by: 'stop', hub_error: null };
  if (at_limit) return { by: 'limit', hub_error: null };
  if (event === null) return { by: 'hub', hub_error: null };
  const { by_request, error } = verdictInStream(event, rules);
  return { by: by_request ? 'request' : 'hub', hub_error: error };
}
