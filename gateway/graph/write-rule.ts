import type { OperationTypeNode } from 'graphql';
import { Refusal } from '../../schema/errors.ts';
import { type HeldBook, type ProofUse } from '../../schema/principal.ts';
import { requireWriting, standsIn } from '../../subgraphs/access.ts';
import type { Context } from '../../subgraphs/context.ts';
import { takeProof } from '../../subgraphs/session/possession/take-proof.ts';

/** Which proofs write: also the plain form, each write once, or none but those that are bound to their request. */
export type ProofWrites = 'plain' | 'bound';

/** An operation, as far as who may run it depends on that. */
export interface Act {
  readonly kind: OperationTypeNode | `${OperationTypeNode}`;
  readonly paid: boolean;
}

type Asking = Pick<Context, 'principal' | 'payment' | 'database'>;

/**
 * Asked of every operation, by HTTP or on a socket, before anything of it runs, so that a new mutation needs no rule of
 * its own. Whether a paid one may write is asked once more as it is charged, when it is known what it would leave.
 * @throws forbidden, rate_limited
 */
export async function requireLeave(act: Act, asking: Asking, proof_writes: ProofWrites): Promise<void> {
  const { principal, database } = asking;
  if (act.kind === 'mutation' && !act.paid) requireWriting(principal);
  const leave = leaveOf(act, asking, proof_writes);
  if (leave.kind === 'given') return;
  if (leave.kind === 'refused') throw new Refusal('forbidden');
  const taking = await takeProof(database, leave.held, leave.use);
  if (taking === 'full')
    throw new Refusal('rate_limited', { detail: 'Too many proofs of this agent: show its session.' });
  if (taking === 'used') throw new Refusal('forbidden');
}

type Leave =
  | { readonly kind: 'given' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'once'; readonly held: HeldBook; readonly use: ProofUse };

/** What possession by a proof still has to show; of whoever shows none the resolvers ask what they want. */
function leaveOf(act: Act, asking: Asking, proof_writes: ProofWrites): Leave {
  const { possession } = asking.principal;
  if (possession.kind !== 'proven' || possession.by === 'session') return { kind: 'given' };
  const { use } = possession;
  const once = use && ({ kind: 'once', held: possession, use } as const);
  // With a payment it is the claim that uses it up: what is not charged for must be possible to send again.
  const claimed = act.paid && (asking.payment !== null || isUnpaid(act, asking));
  // Taken when the socket was opened on which this came, or else here.
  if (possession.by === 'bound_proof') return once === null || claimed ? { kind: 'given' } : once;
  if (act.kind !== 'mutation' && !act.paid) return { kind: 'given' };
  if (proof_writes === 'bound') return { kind: 'refused' };
  return claimed ? { kind: 'given' } : (once ?? { kind: 'refused' });
}

/** Whether the answer can only be a 402. Its proof stays unused: the buyer sends the same one again with the payment. */
function isUnpaid({ paid }: Act, { payment, principal }: Asking): boolean {
  return paid && payment === null && !standsIn(principal.api_key);
}
