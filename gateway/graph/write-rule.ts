import type { OperationTypeNode } from 'graphql';
import { Refusal } from '../../schema/errors.ts';
import { type Held, type ProofUse, requireWriting, standsIn } from '../../schema/principal.ts';
import type { Context } from '../../subgraphs/context.ts';
import { takeProof } from '../../subgraphs/session/index.ts';

/** Which proofs write: also the plain form, each write once, or none but those that are bound to their request. */
export type ProofWrites = 'plain' | 'bound';

/** An operation, as far as who may run it depends on that. */
export interface Act {
  readonly kind: OperationTypeNode | `${OperationTypeNode}`;
  readonly paid: boolean;
}

type Asking = Pick<Context, 'principal' | 'payment' | 'database'>;

/**
 * Asked of every operation before anything of it runs, whatever way it came: a mutation to come is covered by being one.
 * What is paid for is asked for the rest as it is charged, by what it leaves.
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
  | { readonly kind: 'once'; readonly held: Held; readonly use: ProofUse };

/** What possession by a proof still has to show; of whoever shows none the resolvers ask what they want. */
function leaveOf(act: Act, asking: Asking, proof_writes: ProofWrites): Leave {
  const { possession } = asking.principal;
  if (possession.kind !== 'proven' || possession.by === 'session') return { kind: 'given' };
  const { use } = possession;
  const once = use && ({ kind: 'once', held: possession, use } as const);
  // Taken when the socket was opened on which this came, or else here.
  if (possession.by === 'bound_proof') return once === null || isUnpaid(act, asking) ? { kind: 'given' } : once;
  if (act.kind !== 'mutation' && !act.paid) return { kind: 'given' };
  if (proof_writes === 'bound') return { kind: 'refused' };
  // What a payment buys is bought once by that: the same payment again brings the same answer.
  if (act.paid && (asking.payment !== null || isUnpaid(act, asking))) return { kind: 'given' };
  return once ?? { kind: 'refused' };
}

/** Whether nothing but a price can be said: whoever pays it sends the same request again, the nonce too. */
function isUnpaid({ paid }: Act, { payment, principal }: Asking): boolean {
  return paid && payment === null && !standsIn(principal.api_key);
}
