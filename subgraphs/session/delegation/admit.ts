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

/** A payment, or a call with an API key, under a grant. */
export interface GrantedPayment {
  readonly shown: ShownDelegation;
  /** Null for an API key. In that case only the signature proves the payer of the grant. */
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
 * Checks everything about a grant that does not change: its payer signed it, it allows the call, and it does not exceed its parent. The
 * transaction of the claim checks whether the session is active and within its cap. If this throws, nothing was charged. @throws
 * delegation_invalid, grant_exceeded, session_cap_exceeded, session_not_active, chain_unavailable, unavailable
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
  // The cap is checked first, without queries, because a new grant costs its signer nothing and can be sent with every request.
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
  // A payment proves the payer of a known session. An API key proves no payer, so the signature is verified.
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
 * Refuses an unknown grant from before all sessions ended after a break of the log. It has ended like the known sessions, because its
 * revocation may be among the lost records. @throws session_not_active
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

/** Verifies the signature of a new grant. Returns the ids of the sessions above it, root first, followed by its own id. */
async function pathOf(parts: AdmitParts, payment: GrantedPayment): Promise<readonly string[]> {
  const { shown } = payment;
  requireKnownDoors(shown);
  const parent = await requireSigned(parts, payment);
  if (parent === null) return [shown.delegation_hash];
  await requireWithin(parts.database, shown, parent);
  return [...parent.path, shown.delegation_hash];
}

/**
 * Verifies the signature of the payer or, for a child, of the key of its parent session. Returns the parent, or null for a root. @throws
 * delegation_invalid, chain_unavailable, unavailable
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

/** Checks that the grant allows the endpoint and the models of the call. @throws grant_exceeded */
function requirePermitted({ shown, call: { field, models, auto_models = [] } }: GrantedPayment): void {
  const { kind } = permissionOf(shown.grant, { models, auto_models, doors: namesOfField(field) });
  if (kind === 'permitted') return;
  throw grantRefusal(
    kind === 'door_not_granted' ? 'its doors do not include this endpoint' : 'its models do not include this model',
    'grant_exceeded',
  );
}

/**
 * Refuses a grant with an unknown name in `doors`. The name would allow nothing, and the signer would notice that only when calls are
 * refused. @throws delegation_invalid
 */
function requireKnownDoors({ grant }: ShownDelegation): void {
  const unknown = unknownDoor(grant);
  if (unknown === null) return;
  const known = grantableEndpoints.map(({ name }) => name).join(', ');
  throw grantRefusal(
    `doors contains ${JSON.stringify(unknown)}, which is not the name of a paid endpoint. The names are ${known}`,
  );
}
