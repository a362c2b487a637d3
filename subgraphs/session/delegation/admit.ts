import { atomicAmount } from '../../../schema/amount.ts';
import { type ErrorCode, Refusal } from '../../../schema/errors.ts';
import { sessionLimits } from '../../../schema/limits.ts';
import { grantableEndpoints, namesOfField } from '../../../schema/paid-operations.ts';
import type { ShownDelegation } from '../../../schema/session/delegation-header.ts';
import { grantDigest } from '../../../schema/session/grant.ts';
import {
  grantStanding,
  hasParent,
  narrowingOf,
  permissionOf,
  SIBLINGS_FULL,
  unknownDoor,
} from '../../../schema/session/grant-rule.ts';
import { isSignatureOfKey } from '../../../schema/session/public-key.ts';
import { firstDomain } from '../../../schema/session/typed-data.ts';
import type { Database } from '../../database.ts';
import { credentialsEndedAtMs } from '../../receipt/log/break.ts';
import type { RequestedCall } from '../../requested-call.ts';
import type { Payer } from '../../sale.ts';
import type { WalletProofs } from '../../wallet-proofs.ts';
import type { Delegation } from './delegation.entity.ts';
import { delegationByHash, isSignedBySame } from './find.ts';
import type { ClaimSession } from './hold.ts';

/** A payment or a call by API key under a grant. */
export interface GrantedPayment {
  readonly shown: ShownDelegation;
  /** Null for an API key. Then only the signature proves the payer of the grant. */
  readonly payer: Payer | null;
  readonly call: Pick<RequestedCall, 'field' | 'models' | 'auto_models'>;
  readonly holds_atomic: bigint;
  /** Address of the client. */
  readonly address: string;
}

export interface AdmitParts {
  readonly database: Database;
  readonly wallets: WalletProofs;
}

/**
 * Checks everything about a grant that does not change: it is signed by its payer, allows the call and is within its parent. The
 * transaction of the claim checks whether it is active and has room. Nothing is charged. @throws delegation_invalid,
 * grant_exceeded, session_not_active, chain_unavailable, unavailable
 */
export async function admitGrant(
  parts: AdmitParts,
  payment: GrantedPayment,
  now_seconds: number,
): Promise<ClaimSession> {
  const { shown, payer } = payment;
  const { grant } = shown;
  if (payer !== null && payer.network !== 'base') throw grantRefusal('a payment under a grant must be on Base');
  if (payer !== null && grant.payer !== payer.wallet) throw grantRefusal('its payer is not the wallet that pays');
  // Checked first, without queries, because a new grant costs its signer nothing and can be sent with every request.
  if (BigInt(grant.capAtomic) < payment.holds_atomic)
    throw new Refusal('session_cap_exceeded', {
      facts: { charged: false, delegation_hash: shown.delegation_hash },
    });
  const known = await delegationByHash(parts.database, shown.delegation_hash);
  if (known === null) await requireSince(parts.database, grant.validAfter);
  if (shown.domain.version === firstDomain.version && (known?.boundAt ?? null) === null)
    throw grantRefusal(
      'it is signed under version 1 of the domain, which new sessions cannot use. Sign version 2, see /v1/sessions/types',
    );
  // For a known session the payer of a payment is proof enough; an API key proves no payer.
  if (known !== null && payer === null && !isSignedBySame(known, shown.signature)) await requireSigned(parts, payment);
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

export function grantRefusal(detail: string, code: ErrorCode = 'delegation_invalid'): Refusal {
  return new Refusal(code, {
    detail: `The grant is not accepted: ${detail}.`,
    param: 'x-svc-delegation',
    facts: { charged: false },
  });
}

export function notActive(session_status: string): Refusal {
  return new Refusal('session_not_active', { facts: { charged: false, session_status } });
}

/**
 * A grant from before a break of the log may have been revoked in what was lost. Like all sessions known then, it has ended.
 * @throws session_not_active
 */
async function requireSince(database: Database, valid_after: number): Promise<void> {
  const ended_at_ms = await credentialsEndedAtMs(database);
  if (ended_at_ms === null) return;
  const ended_at = Math.floor(ended_at_ms / 1_000);
  if (valid_after >= ended_at) return;
  throw new Refusal('session_not_active', {
    detail: `All sessions ended at ${ended_at}. Sign a grant whose validAfter is that time or later.`,
    param: 'x-svc-delegation',
    facts: { charged: false, session_status: 'revoked' },
  });
}

/** Sessions above a new grant, with the signature checked. */
async function pathOf(parts: AdmitParts, payment: GrantedPayment): Promise<readonly string[]> {
  const { shown } = payment;
  requireKnownDoors(shown);
  const parent = await requireSigned(parts, payment);
  if (parent === null) return [shown.delegation_hash];
  await requireWithin(parts.database, shown, parent);
  return [...parent.path, shown.delegation_hash];
}

/**
 * Requires the signature of the payer or, for a child, of the key of its parent, which is returned. @throws delegation_invalid,
 * chain_unavailable, unavailable
 */
async function requireSigned(parts: AdmitParts, { shown, address }: GrantedPayment): Promise<Delegation | null> {
  const { grant, domain, signature } = shown;
  const digest = grantDigest(domain, grant);
  if (!hasParent(grant)) {
    const verdict = await parts.wallets.verifies(grant.payer, digest, signature, address);
    if (verdict === 'valid') return null;
    if (verdict === 'invalid') throw grantRefusal('it is not signed by its payer');
    throw new Refusal(verdict === 'no_turn' ? 'unavailable' : 'chain_unavailable', { facts: { charged: false } });
  }
  const parent = await delegationByHash(parts.database, grant.parentDelegationHash);
  if (parent === null || parent.boundAt === null) throw grantRefusal('no payment has bound its parent session here');
  if (!isSignatureOfKey(parent.agentAddress, digest, signature))
    throw grantRefusal('it is not signed by the key of its parent session');
  return parent;
}

async function requireWithin(database: Database, { grant }: ShownDelegation, parent: Delegation): Promise<void> {
  const narrowing = narrowingOf(grant, { ...parent, capAtomic: parent.capAtomic.toString() });
  if (narrowing.kind === 'wider') throw grantRefusal(`${narrowing.member} exceeds that of its parent session`);
  if (parent.path.length >= sessionLimits.depth_max)
    throw grantRefusal(`sessions are nested at most ${sessionLimits.depth_max} levels deep`);
  const [found] = await database.query<{ children: number }>({
    name: 'children of session',
    text: `select count(*)::int as children from (select from delegation d
      where parent_hash = $1 and session_expiry > extract(epoch from now())
        and not exists (select from session_revocation r where r.delegation_hash = d.delegation_hash) limit $2) children`,
    values: [parent.delegationHash, sessionLimits.children_max],
  });
  if ((found?.children ?? 0) >= sessionLimits.children_max) throw grantRefusal(SIBLINGS_FULL);
}

/** @throws grant_exceeded */
function requirePermitted({ shown, call: { field, models, auto_models = [] } }: GrantedPayment): void {
  const { kind } = permissionOf(shown.grant, { models, auto_models, doors: namesOfField(field) });
  if (kind === 'permitted') return;
  throw grantRefusal(
    kind === 'door_not_granted' ? 'its doors do not include this endpoint' : 'its models do not include this model',
    'grant_exceeded',
  );
}

/** An unknown name would allow nothing, and its signer would notice only call by call. @throws delegation_invalid */
function requireKnownDoors({ grant }: ShownDelegation): void {
  const unknown = unknownDoor(grant);
  if (unknown === null) return;
  const known = grantableEndpoints.map(({ name }) => name).join(', ');
  throw grantRefusal(
    `doors contains ${JSON.stringify(unknown)}, which is not the name of a paid endpoint. The names are ${known}`,
  );
}
