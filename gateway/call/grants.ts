import { type JsonObject } from '../../schema/canonical-json.ts';
import { errors, Refusal } from '../../schema/errors.ts';
import { type NetworkName } from '../../schema/network.ts';
import { type ShownDelegation } from '../../schema/session/delegation-header.ts';
import { modelsWithin } from '../../schema/session/grant-rule.ts';
import { type Context } from '../../subgraphs/context.ts';
import { type RequestedCall } from '../../subgraphs/requested-call.ts';
import { admitGrant, grantRefusal } from '../../subgraphs/session/delegation/admit.ts';
import { payerOfRoot } from '../../subgraphs/session/delegation/find.ts';
import { payActOf } from '../../subgraphs/session/delegation/pay-act.ts';
import { type DelegationReads, resolveDelegation } from '../../subgraphs/session/delegation/resolve-delegation.ts';
import { paymentId } from '../rails/payment.ts';
import { type ClaimedUnder } from './claim/under-sessions.ts';
import { type CallParts } from './parts.ts';
import { type Presented } from './states.ts';

/* Grants of sessions that come with a payment or an API key. An agent without a wallet pays from no book: money always moves by x402. */

/**
 * The session of the grant that came with a payment. Null without a grant. Nothing is charged if it throws.
 * @throws delegation_invalid; chain_unavailable, unavailable if its signature cannot be checked
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

/** The hashes of a claim's session and its parents, root first, from the stored landing. Empty without a session. */
export function delegationPathOf({ delegation }: JsonObject): readonly string[] {
  const { path } = (delegation ?? {}) as { readonly path?: readonly string[] };
  return path ?? [];
}

export type GrantParts = Pick<CallParts, 'database' | 'wallets' | 'clock' | 'vault' | 'base_urls' | 'failures'>;

/**
 * Checks that the grant allows the call. Null without a grant.
 * @throws delegation_invalid, grant_exceeded, session_not_active and similar
 */
export async function admitUnder(
  parts: GrantParts,
  { delegation, paid, payer, call, payment, address_mark }: Presented,
  { principal }: Context,
): Promise<ClaimedUnder | null> {
  if (delegation === null) return null;
  const { authorization } = payment;
  // The amount is not held again under a session of the first payment or one above it, because all of these have counted both payments.
  const counted = paid.held_under?.includes(delegation.delegation_hash) ? 0n : null;
  const holds_atomic = counted ?? paid.reserved_atomic ?? authorization.amount_atomic;
  const asked = { shown: delegation, payer, call, address: principal.address };
  const now_seconds = Math.floor(parts.clock.now_ms() / 1000);
  const paid_under = await admitGrant(parts, { ...asked, holds_atomic }, now_seconds).catch(error => {
    // The payment proves its payer, so it needs no turn at the gate. Failures of its grants are counted here.
    if (error instanceof Refusal && errors[error.code][0] < 500) parts.failures.tried(payer.wallet, address_mark);
    throw error;
  });
  const approval = payActOf(parts, delegation, paymentId(authorization), now_seconds);
  if (approval === null) return { shown: delegation, paid_under, approval };
  const { delegation_hash, grant } = delegation;
  const root_payer = await payerOfRoot(parts.database, paid_under.path, { delegation_hash, payer: grant.payer });
  return { shown: delegation, paid_under, approval: { ...approval, root_payer } };
}

/** A grant that came with an API key, under which the call is made. */
export type KeyCallUnder = Pick<ClaimedUnder, 'shown' | 'paid_under'>;

/**
 * Checks a grant that came with an API key, as for a payment of 0. Nothing is stored for the payer, and nothing is charged.
 * @throws delegation_invalid, grant_exceeded, session_not_active, chain_unavailable, unavailable
 */
export async function admitUnderKey(
  parts: GrantParts,
  call: RequestedCall,
  { delegation, principal: { address } }: Context,
): Promise<KeyCallUnder | null> {
  if (delegation === null) return null;
  const shown = await resolveDelegation(parts, delegation, address);
  if (shown.act !== null) throw grantRefusal('its `act` approves a payment, but the request has no payment');
  const now_seconds = Math.floor(parts.clock.now_ms() / 1000);
  const paid_under = await admitGrant(parts, { shown, payer: null, call, holds_atomic: 0n, address }, now_seconds);
  return { shown, paid_under };
}

interface GrantedCall {
  readonly under?: Pick<KeyCallUnder, 'shown'> | null;
  readonly call: RequestedCall;
}

/** Models that both book and grant allow. Null if neither has a limit. */
export function modelsUnder(
  { under, call: { auto_models = [] } }: GrantedCall,
  allowed: readonly string[] | null,
): readonly string[] | null {
  return under ? modelsWithin(under.shown.grant, auto_models, allowed) : allowed;
}

/**
 * Refuses a call for which book and grant allow models of their own and none in common. What has been paid for is not refused: its models are
 * no longer limited then (`candidatesFor`). @throws grant_exceeded
 */
export function requireSharedModel({ models }: RequestedCall, allowed_models: readonly string[] | null): void {
  if (allowed_models === null || models.length === 0 || models.some(model => allowed_models.includes(model))) return;
  const detail =
    'None of the models that could answer this call is allowed by both the book and the grant. Nothing was charged.';
  throw new Refusal('grant_exceeded', { param: 'model', detail, facts: { charged: false } });
}
