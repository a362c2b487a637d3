import { atomicAmount } from '../../../schema/amount.ts';
import { type JsonObject } from '../../../schema/canonical-json.ts';
import { type AgentId } from '../../../schema/ids.ts';
import { type Approval } from '../../../schema/policy-rule.ts';
import { type ShownDelegation } from '../../../schema/session/delegation-header.ts';
import { voidReservations } from '../../../subgraphs/book/ledger/reserve.ts';
import { type ClaimRequest } from '../../../subgraphs/receipt/claim/claim.ts';
import {
  type ClaimSession,
  holdUnderSessions,
  type SessionOutcome,
} from '../../../subgraphs/session/delegation/hold.ts';
import { type Tx } from '../../../subgraphs/transaction.ts';

/*
 * Claims under sessions. Their amounts are reserved on the sessions' caps in the claims' own transaction, after the heads of the books are
 * locked.
 */

/** An act that came with a payment, and the wallet that granted its tree of sessions. The wallet is null if it is unknown. */
interface PaymentAct extends Approval {
  readonly root_payer: string | null;
}

/** An admitted grant, under which a claim is made. */
export interface ClaimedUnder {
  readonly shown: ShownDelegation;
  readonly paid_under: ClaimSession;
  readonly approval: PaymentAct | null;
}

export interface RefusedBySession {
  readonly kind: 'refused_by_session';
  readonly refusal: Exclude<SessionOutcome, { kind: 'holds' }>;
}

/**
 * Returns the act of a payment if it approves the call on that book. The act must be of a tree that the wallet of the book's agent has
 * granted. Otherwise any caller could grant a tree of their own and approve their own call.
 */
export function approvingAct(
  under: ClaimedUnder | null,
  agent_id: AgentId | null,
  agents: ReadonlyMap<string, AgentId>,
): Approval | null {
  const { approval = null } = under ?? {};
  if (approval === null || approval.root_payer === null || agent_id === null) return null;
  return agents.get(approval.root_payer) === agent_id ? approval : null;
}

interface PlacedUnder {
  readonly request: ClaimRequest;
  readonly under: ClaimedUnder | null;
}

/** Landing of a call that is recorded as paid under no session. */
export const UNDER_NONE: JsonObject = { delegation: null };

/**
 * Reserves claims on their sessions. The reservation of a claim that a session refuses is returned to its book. A payment whose money has
 * moved is never refused: if its session has no room, it is recorded as paid under no session, so that no cap is exceeded.
 */
export async function holdUnder(tx: Tx, claimed: readonly PlacedUnder[]) {
  const items = claimed.flatMap(({ request, under }) => (under ? [{ request, under }] : []));
  const held = await holdUnderSessions(
    tx,
    items.map(({ request, under }) => ({ claim_key: request.claim_key, under: under.paid_under, shown: under.shown })),
  );
  const refused: { request: ClaimRequest; outcome: RefusedBySession }[] = [];
  const under_none = new Set<string>();
  for (const [index, { request }] of items.entries()) {
    const refusal = held[index];
    if (!refusal || refusal.kind === 'holds') continue;
    if (request.means === null) under_none.add(request.claim_key);
    else refused.push({ request, outcome: { kind: 'refused_by_session', refusal } });
  }
  if (refused.length > 0)
    await voidReservations(
      tx,
      refused.flatMap(({ request }) => reservationOf(request)),
    );
  return { refused, under_none };
}

function reservationOf({ agent_id, reserved_atomic }: ClaimRequest) {
  return agent_id === null || reserved_atomic === 0n ? [] : [{ agent_id, amount: atomicAmount(reserved_atomic) }];
}
