import { atomicAmount } from '../../../schema/amount.ts';
import { type ErrorCode, Refusal } from '../../../schema/errors.ts';
import { operationsOf } from '../../../schema/paid-operations.ts';
import type { ShownDelegation } from '../../../schema/session/delegation-header.ts';
import { grantDigest } from '../../../schema/session/grant.ts';
import { grantStanding, hasParent, narrowingOf, permissionOf } from '../../../schema/session/grant-rule.ts';
import { isKeysSignature } from '../../../schema/session/public-key.ts';
import { sessionLimits } from '../../../schema/session/session-limits.ts';
import type { Database } from '../../database.ts';
import type { Payer } from '../../sale.ts';
import type { WalletProofs } from '../../wallet-proofs.ts';
import type { Delegation } from './delegation.entity.ts';
import { delegationByHash } from './find.ts';
import type { PaidUnder } from './hold.ts';

/** A payment that would be made under a grant. */
export interface GrantedPayment {
  readonly shown: ShownDelegation;
  readonly payer: Payer;
  /** Coordinate of the paid field. */
  readonly field: string;
  readonly models: readonly string[];
  readonly holds_atomic: bigint;
  /** From which the request came. */
  readonly address: string;
}

export interface AdmitParts {
  readonly database: Database;
  readonly wallets: WalletProofs;
}

/**
 * Whether a grant is its payer's, allows the call and lies within its parent: all that does not change. Whether it stands,
 * and has room for it, is for the claim's transaction to say. Uncharged: @throws delegation_invalid, grant_exceeded,
 * session_not_active, chain_unavailable, unavailable
 */
export async function admitGrant(parts: AdmitParts, payment: GrantedPayment, now_seconds: number): Promise<PaidUnder> {
  const { shown, payer } = payment;
  const { grant } = shown;
  if (payer.network !== 'base') throw refused('a payment on Base alone is made under a grant');
  if (grant.payer !== payer.wallet) throw refused('its payer is not the one of the payment');
  // By its own words, before anybody is asked: a new grant costs its signer nothing, and may come with every request.
  if (BigInt(grant.capAtomic) < payment.holds_atomic)
    throw new Refusal('session_cap_exceeded', {
      facts: { charged: false, delegation_hash: shown.delegation_hash },
    });
  const known = await delegationByHash(parts.database, shown.delegation_hash);
  const path = known?.path ?? (await pathOf(parts, payment));
  requirePermitted(payment);
  const standing = grantStanding(grant, now_seconds).kind;
  if (standing !== 'in_force') throw notActive(standing === 'not_begun' ? 'not_begun' : 'expired');
  return {
    delegation_hash: shown.delegation_hash,
    path,
    agent_pubkey: grant.agentPubkey,
    valid_after: grant.validAfter,
    session_expiry: grant.sessionExpiry,
    holds: atomicAmount(payment.holds_atomic).toString(),
  };
}

export function refused(detail: string, code: ErrorCode = 'delegation_invalid'): Refusal {
  return new Refusal(code, {
    detail: `The grant is not taken: ${detail}.`,
    param: 'x-svc-delegation',
    facts: { charged: false },
  });
}

export function notActive(session_status: string): Refusal {
  return new Refusal('session_not_active', { facts: { charged: false, session_status } });
}

/** Who stands over a grant that is new here, and who has signed it. */
async function pathOf(parts: AdmitParts, { shown, address }: GrantedPayment): Promise<readonly string[]> {
  const { grant, delegation_hash, signature } = shown;
  if (!hasParent(grant)) {
    const verdict = await parts.wallets.verifies(grant.payer, grantDigest(grant), signature, address);
    if (verdict === 'valid') return [delegation_hash];
    if (verdict === 'invalid') throw refused('its signature is not the payer’s');
    throw new Refusal(verdict === 'no_turn' ? 'unavailable' : 'chain_unavailable', { facts: { charged: false } });
  }
  const parent = await delegationByHash(parts.database, grant.parentDelegationHash);
  if (parent === null || parent.boundAt === null) throw refused('its parent is bound by no payment here');
  if (!isKeysSignature(parent.agentAddress, grantDigest(grant), signature))
    throw refused('its signature is not that of the key of its parent');
  await requireWithin(parts.database, shown, parent);
  return [...parent.path, delegation_hash];
}

async function requireWithin(database: Database, { grant }: ShownDelegation, parent: Delegation): Promise<void> {
  const narrowing = narrowingOf(grant, { ...parent, capAtomic: parent.capAtomic.toString() });
  if (narrowing.kind === 'wider') throw refused(`${narrowing.member} is beyond its parent’s`);
  if (parent.path.length >= sessionLimits.depth_max)
    throw refused(`it would lie deeper than ${sessionLimits.depth_max}`);
  const [found] = await database.query<{ children: number }>({
    name: 'children of session',
    text: `select count(*)::int as children from (select from delegation d
      where parent_hash = $1 and session_expiry > extract(epoch from now())
        and not exists (select from session_revocation r where r.delegation_hash = d.delegation_hash) limit $2) children`,
    values: [parent.delegationHash, sessionLimits.children_max],
  });
  if ((found?.children ?? 0) >= sessionLimits.children_max)
    throw refused('its parent has as many living children as it may');
}

/** @throws grant_exceeded */
function requirePermitted({ shown, field, models }: GrantedPayment): void {
  const names = operationsOf(field);
  // What no door of the list sells is called by the field that sells it.
  const doors = names.length > 0 ? names : [field.replace(/^\w+\./, '')];
  const { kind } = permissionOf(shown.grant, { models, doors });
  if (kind !== 'permitted')
    throw refused(kind === 'door_not_granted' ? 'it is for other doors' : 'it is for other models', 'grant_exceeded');
}
