import type { BrokenOff, WHOLE } from '../../../answer-end.ts';
import type { HubFailure } from './ask.ts';
import { type VerdictRules, verdictInStream } from './verdict.ts';

/** How a hub's answer ended. Of one that broke off, `reason` is what its hub is judged by. */
export type ReplyEnd = typeof WHOLE | BrokenReply;

export interface BrokenReply extends BrokenOff {
  readonly reason: HubFailure;
}

/** What is known of a break beside its reason. */
export interface BreakFacts {
  /** It went on until a limit of ours was reached. */
  readonly at_limit?: boolean;
  /** The event in place of a chunk; null where none came. */
  readonly event?: string | null;
}

/** What is needed to judge an error in the midst of an answer. */
export type BreakRules = Omit<VerdictRules, 'now_ms'>;

/** Pure. */
export function brokenReply(
  reason: HubFailure,
  { at_limit = false, event = null }: BreakFacts,
  rules: BreakRules,
): BrokenReply {
  const broken = { kind: 'broke_off', reason, hub_error: null } as const;
  if (reason === 'cancelled') return { ...broken, by: 'stop' };
  if (at_limit) return { ...broken, by: 'limit' };
  if (event === null) return { ...broken, by: 'hub' };
  const { by_request, error } = verdictInStream(event, rules);
  return { ...broken, by: by_request ? 'request' : 'hub', hub_error: error };
}
