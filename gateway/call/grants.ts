import { atomicAmount } from '../../schema/amount.ts';
import { type JsonObject } from '../../schema/canonical-json.ts';
import { errors, Refusal } from '../../schema/errors.ts';
import { type AgentId } from '../../schema/ids.ts';
import { type NetworkName } from '../../schema/network.ts';
import { type Approval } from '../../schema/policy-rule.ts';
import { type ShownDelegation } from '../../schema/session/delegation-header.ts';
import { modelsWithin } from '../../schema/session/grant-rule.ts';
import { voidReservations } from '../../subgraphs/book/ledger/reserve.ts';
import { type Clock } from '../../subgraphs/clock.ts';
import { type Context } from '../../subgraphs/context.ts';
import { type Database, type Tx } from '../../subgraphs/database.ts';
import { type ClaimRequest } from '../../subgraphs/receipt/claim/claim.ts';
import { type RequestedCall } from '../../subgraphs/requested-call.ts';
import { type AdmitParts, admitGrant, grantRefusal } from '../../subgraphs/session/delegation/admit.ts';
import { payerOfRoot } from '../../subgraphs/session/delegation/find.ts';
import { type ClaimSession, holdUnderSessions, type SessionOutcome } from '../../subgraphs/session/delegation/hold.ts';
import { payActOf } from '../../subgraphs/session/delegation/pay-act.ts';
import { type DelegationReads, resolveDelegation } from '../../subgraphs/session/delegation/resolve-delegation.ts';
import { type Vault } from '../../subgraphs/vault.ts';
import { type WalletProofs } from '../../subgraphs/wallet-proofs.ts';
import { paymentId } from '../rails/payment.ts';
import { type Failures } from './failures.ts';
import { type Presented } from './verify-payment.ts';

/* The grant of a session that comes beside a payment. */

/**
 * Null without a grant. Uncharged: @throws delegation_invalid; chain_unavailable, unavailable if its signature cannot be checked
 */
export async function delegationBeside(
  parts: DelegationReads,
  { delegation, principal }: Context,
  network: NetworkName,
): Promise<ShownDelegation | null> {
  if (delegation === null) return null;
  if (network !== 'base') throw grantRefusal('only a payment on Base can be made under a grant');
  return resolveDelegation(parts, delegation, principal.address);
}

/** The session of a claim behind all its parents, as stored; empty without one. */
export function delegationPathOf({ delegation }: JsonObject): readonly string[] {
  const { path } = (delegation ?? {}) as { readonly path?: readonly string[] };
  return path ?? [];
}

/* Checks a grant beside its payment. An agent without a wallet pays from no book: money always moves by x402. */

export interface AdmitUnderParts {
  readonly database: Database;
  readonly wallets: WalletProofs;
  readonly clock: Clock;
  readonly vault: Pick<Vault, 'mark'>;
  readonly base_urls: readonly string[];
  readonly failures: Pick<Failures, 'tried'>;
}

export function openAdmitUnder(parts: AdmitUnderParts) {
  return async (
    { delegation, paid, payer, call, payment, address_mark }: Presented,
    { principal }: Context,
  ): Promise<ClaimedUnder | null> => {
    if (delegation === null) return null;
    const { authorization } = payment;
    // Also under a session above the first payment's, since its whole path has counted both.
    const counted = paid.held_under?.includes(delegation.delegation_hash) ? 0n : null;
    const holds_atomic = counted ?? paid.reserved_atomic ?? authorization.amount_atomic;
    const asked = { shown: delegation, payer, call, address: principal.address };
    const now_seconds = Math.floor(parts.clock.now_ms() / 1000);
    const paid_under = await admitGrant(parts, { ...asked, holds_atomic }, now_seconds).catch(error => {
      // The payment proves its payer and so costs no turn at the gate; failures of its grants are counted here.
      if (error instanceof Refusal && errors[error.code][0] < 500) parts.failures.tried(payer.wallet, address_mark);
      throw error;
    });
    const approval = payActOf(parts, delegation, paymentId(authorization), now_seconds);
    if (approval === null) return { shown: delegation, paid_under, approval };
    const { delegation_hash, grant } = delegation;
    const root_payer = await payerOfRoot(parts.database, paid_under.path, { delegation_hash, payer: grant.payer });
    return { shown: delegation, paid_under, approval: { ...approval, root_payer } };
  };
}

/** A grant beside an API key, as its call is made under it. */
export type KeyCallUnder = Pick<ClaimedUnder, 'shown' | 'paid_under'>;
export type AdmitUnderKey = (call: RequestedCall, context: Context) => Promise<KeyCallUnder | null>;

/**
 * Checks a grant beside an API key as beside a payment of 0; nothing is stored for the payer. Uncharged: @throws
 * delegation_invalid, grant_exceeded, session_not_active, chain_unavailable, unavailable
 */
export function openAdmitUnderKey(parts: DelegationReads & AdmitParts & Pick<AdmitUnderParts, 'clock'>): AdmitUnderKey {
  return async (call, { delegation, principal: { address } }) => {
    if (delegation === null) return null;
    const shown = await resolveDelegation(parts, delegation, address);
    if (shown.act !== null) throw grantRefusal('its `act` approves a payment, but the request has no payment');
    const now_seconds = Math.floor(parts.clock.now_ms() / 1000);
    const paid_under = await admitGrant(parts, { shown, payer: null, call, holds_atomic: 0n, address }, now_seconds);
    return { shown, paid_under };
  };
}

/** Models that both book and grant allow; null if neither has a limit. */
export function modelsUnder(
  { under, call: { auto_models = [] } }: { readonly under?: KeyCallUnder | null; readonly call: RequestedCall },
  allowed: readonly string[] | null,
): readonly string[] | null {
  return under ? modelsWithin(under.shown.grant, auto_models, allowed) : allowed;
}

/* Claims under sessions: reserved on the sessions' caps in the claims' own transaction, after the books' heads. */

/** An act that came with a payment, and the wallet that granted its tree; null if unknown. */
export interface ActBeside extends Approval {
  readonly root_payer: string | null;
}

/** An admitted grant, as its claim is made under it. */
export interface ClaimedUnder {
  readonly shown: ShownDelegation;
  readonly paid_under: ClaimSession;
  readonly approval: ActBeside | null;
}

export interface RefusedBySession {
  readonly kind: 'refused_by_session';
  readonly refusal: Exclude<SessionOutcome, { kind: 'holds' }>;
}

/**
 * The act of a payment, if it approves the call on that book: it must be of a tree that the wallet of the book's agent has
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

/** For a call that is recorded as paid under no session. */
export const UNDER_NONE: JsonObject = { delegation: null };

/**
 * What a session refuses is returned to its book here. A payment whose money has moved is never refused: without room in its
 * session it is recorded as paid under none, so that no cap is exceeded.
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
