import type { OperationTypeNode } from 'graphql';
import { Refusal } from '../../schema/errors.ts';
import { type HeldBook, type ProofUse } from '../../schema/principal.ts';
import { requireWriting, standsIn } from '../../subgraphs/access.ts';
import type { Context } from '../../subgraphs/context.ts';
import { takeProof } from '../../subgraphs/session/possession/take-proof.ts';

/** Which proofs may write. `plain`: plain ones too, once for each write. `bound`: only those that are bound to their request. */
export type ProofWrites = 'plain' | 'bound';

/** The facts of an operation that decide who may run it. */
export interface Act {
  readonly kind: OperationTypeNode | `${OperationTypeNode}`;
  readonly paid: boolean;
}

type WriterContext = Pick<Context, 'principal' | 'payment' | 'database'>;

/**
 * Checks every operation, over HTTP or a socket, before any of it runs, so that a new mutation needs no rule. A paid operation is checked
 * again at the charge, when its effect is known. @throws forbidden, rate_limited
 */
export async function requireLeave(act: Act, asking: WriterContext, proof_writes: ProofWrites): Promise<void> {
  const { principal, database } = asking;
  if (act.kind === 'mutation' && !act.paid) requireWriting(principal);
  const leave = leaveOf(act, asking, proof_writes);
  if (leave.kind === 'given') return;
  if (leave.kind === 'refused') throw new Refusal('forbidden');
  const taking = await takeProof(database, leave.held, leave.use);
  if (taking === 'full')
    throw new Refusal('rate_limited', {
      detail: 'Too many proofs were sent for this agent. Send its session instead.',
    });
  if (taking === 'used') throw new Refusal('forbidden');
}

type Leave =
  | { readonly kind: 'given' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'once'; readonly held: HeldBook; readonly use: ProofUse };

/** Whether the proof of a caller permits the operation, besides possession. Without a proof the resolvers decide. */
function leaveOf(act: Act, asking: WriterContext, proof_writes: ProofWrites): Leave {
  const { possession } = asking.principal;
  if (possession.kind !== 'proven' || possession.by === 'session') return { kind: 'given' };
  const { use } = possession;
  const once = use && ({ kind: 'once', held: possession, use } as const);
  // If a payment comes with the request, its claim consumes the nonce, because it must be possible to repeat a request that is not charged.
  const claimed = act.paid && (asking.payment !== null || isUnpaid(act, asking));
  // The nonce of a bound proof was consumed when the socket was opened, or is consumed here.
  if (possession.by === 'bound_proof') return once === null || claimed ? { kind: 'given' } : once;
  if (act.kind !== 'mutation' && !act.paid) return { kind: 'given' };
  if (proof_writes === 'bound') return { kind: 'refused' };
  return claimed ? { kind: 'given' } : (once ?? { kind: 'refused' });
}

/** Whether the response can only be a 402. The proof stays unused, because the payer sends it again with the payment. */
function isUnpaid({ paid }: Act, { payment, principal }: WriterContext): boolean {
  return paid && payment === null && !standsIn(principal.api_key);
}
