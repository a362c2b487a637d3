import { PolicyChangeNoun } from '../../../schema/book/event.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { PolicyNoun, ShadowPolicyNoun } from '../../../schema/policy.ts';
import { objectType, shownOf } from '../../graph-type.ts';
import type { TermsEvent } from './changes.ts';
import type { Policies } from './set.ts';

objectType(
  'ShadowPolicy',
  'Policies in shadow mode. They refuse nothing; `would_block` events record what they would have refused.',
  ShadowPolicyNoun,
);
export const ShownPolicy = objectType(
  'BookPolicy',
  'Policies of a book. A policy that is null is not set.',
  PolicyNoun,
);
export type ShownPolicy = InstanceType<typeof ShownPolicy>;

/** Policies as they are shown. A policy that is not set is null. */
export function shownPolicy(agent_id: AgentId, { policy, shadow }: Policies): ShownPolicy {
  const shadowed = Object.keys(shadow).length === 0 ? null : shownOf(ShadowPolicyNoun, shadow);
  return { agentId: agent_id, ...shownOf(ShadowPolicyNoun, policy), shadow: shadowed };
}

export const ShownChange = objectType(
  'PolicyChange',
  'A change of a policy or of the budget of a book: an event of the book.',
  PolicyChangeNoun,
);
export type ShownChange = InstanceType<typeof ShownChange>;

export function shownChange({ position, kind, at, body }: TermsEvent): ShownChange {
  const mode = body.policy_type === undefined ? null : (body.mode ?? 'enforce');
  const { by } = body;
  const proven = by === null || typeof by === 'string' ? { by } : by;
  return shownOf(PolicyChangeNoun, { ...body, ...proven, position, kind, mode, at });
}
