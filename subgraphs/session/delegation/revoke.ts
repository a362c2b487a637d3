import { type ErrorCode, Refusal } from '../../../schema/errors.ts';
import { sessionLimits } from '../../../schema/limits.ts';
import { revocationDigest } from '../../../schema/session/act.ts';
import { readDelegation } from '../../../schema/session/delegation-header.ts';
import { delegationHash, namesOfGrant } from '../../../schema/session/grant.ts';
import { hasParent } from '../../../schema/session/grant-rule.ts';
import { isSignatureOfKey } from '../../../schema/session/public-key.ts';
import { firstDomain, type SessionDomain, sessionDomain } from '../../../schema/session/typed-data.ts';
import { leaveCredential } from '../../book/heads/book-changes.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import { TREE_CHANNEL } from '../../live-channels.ts';
import {
  type KeptRevocation,
  keepRevocation,
  lockRevocations,
  revocationsAmong,
  unboundRevocationsOf,
} from '../../receipt/issuer/revoked-sessions.ts';
import type { SessionContext } from '../context.ts';
import type { Delegation } from './delegation.entity.ts';
import { delegationByHash, delegationsByHash, grantOf } from './find.ts';

interface ShownRevocation {
  readonly delegation_hash: string;
  readonly at: number;
  readonly signature: string;
}

/**
 * Revokes a session and all sessions below it. The revocation is signed by the payer of the session or of a session above it. Payments
 * that have a claim continue, and requests that wait for the locks are refused. A grant that no payment has bound can be revoked if the
 * request contains it. @throws not_found, delegation_invalid, revocation_invalid, chain_unavailable, unavailable, rate_limited
 */
export async function revokeSession(shown: ShownRevocation, context: SessionContext): Promise<KeptRevocation> {
  const delegation_hash = shown.delegation_hash.toLowerCase();
  const session = await revocable(delegation_hash, context);
  requireFresh(shown.at, context.clock.now_ms());
  const payer = await signerOf(shown, session, context);
  return context.database.transaction(async tx => {
    await tx.query({
      name: 'lock session',
      text: 'select 1 from delegation where delegation_hash = $1 for update',
      values: [delegation_hash],
    });
    lockRevocations(tx);
    const standing = (await revocationsAmong(tx, [delegation_hash])).get(delegation_hash);
    if (standing) return standing;
    if (session.unbound) await requireUnboundRoom(tx, payer);
    const kept = await keepRevocation(tx, { ...shown, delegation_hash, payer }, session.unbound);
    leaveCredential(tx, { credential: 'revocation', hash: delegation_hash, at: iso(kept.revoked_at.getTime()) });
    tx.write({ name: 'tell of revocation', text: 'select pg_notify($1, $2)', values: [TREE_CHANNEL, delegation_hash] });
    return kept;
  });
}

function requireFresh(at: number, now_ms: number): void {
  const age_seconds = Math.floor(now_ms / 1000) - at;
  const { revocation_age_seconds_max, revocation_ahead_seconds_max } = sessionLimits;
  if (age_seconds <= revocation_age_seconds_max && age_seconds >= -revocation_ahead_seconds_max) return;
  throw new Refusal('revocation_invalid', { param: 'at' });
}

/**
 * Signer of a revocation: the payer of the session or of a session above it, nearest first. If the key of one of these wallets signed,
 * only that wallet is checked, so that usual requests need no call to the chain. If a wallet cannot be checked now, the others are still
 * checked.
 */
async function signerOf(
  { at, signature }: ShownRevocation,
  session: Revocable,
  { database, free_wallets, principal, base_urls }: SessionContext,
): Promise<string> {
  const domains: readonly SessionDomain[] = [
    ...base_urls.map(sessionDomain),
    ...(session.is_of_first_version ? [firstDomain] : []),
  ];
  const digests = domains.map(domain => revocationDigest(domain, session.delegationHash, at));
  const payers = await payersOver(database, session);
  const own = payers.find(payer => digests.some(digest => isSignatureOfKey(payer, digest, signature)));
  let unknown: ErrorCode | null = null;
  for (const payer of own ? [own] : payers) {
    const verdict = await free_wallets.verifies(payer, digests, signature, principal.address);
    if (verdict === 'valid') return payer;
    if (verdict !== 'invalid') unknown = verdict === 'no_turn' ? 'unavailable' : 'chain_unavailable';
  }
  throw unknown === null ? new Refusal('revocation_invalid', { param: 'signature' }) : new Refusal(unknown);
}

/** Distinct payers of a session and of the sessions above it, nearest first. */
async function payersOver(
  database: SessionContext['database'],
  { delegationHash, payer, path }: Revocable,
): Promise<readonly string[]> {
  const found = await delegationsByHash(database, path);
  const over = new Map(found.map(session => [session.delegationHash, session.payer]));
  return [...new Set(path.toReversed().map(name => (name === delegationHash ? payer : (over.get(name) ?? payer))))];
}

/** Revokes all sessions that can still be used, as of `at` (ISO 8601). No signature is required. */
export async function revokeAllSessions(tx: Tx, at: string): Promise<void> {
  lockRevocations(tx);
  await tx.query({
    text: `with revoked as (
        insert into session_revocation (delegation_hash, payer, at, signature, unbound, revoked_at)
        select delegation_hash, payer, floor(extract(epoch from $1::timestamptz)), null, false, $1 from delegation d
        where session_expiry > extract(epoch from $1::timestamptz)
          and not exists (select from session_revocation r where r.delegation_hash = d.delegation_hash)
        order by delegation_hash returning delegation_hash)
      select count(pg_notify($2, delegation_hash)) from revoked`,
    values: [at, TREE_CHANNEL],
  });
}

/** Target of a revocation: a stored session or a grant that was sent. */
interface Revocable extends Pick<Delegation, 'delegationHash' | 'payer' | 'path'> {
  /** True if no recorded payment has bound the session. */
  readonly unbound: boolean;
  /** True if its id is the digest under version 1 of the domain. The payer may then sign the revocation under that version too. */
  readonly is_of_first_version: boolean;
}

/** Finds the session to revoke. @throws not_found without such a payment or grant, delegation_invalid if the grant is invalid */
async function revocable(
  delegation_hash: string,
  { database, delegation, base_urls }: Pick<SessionContext, 'database' | 'delegation' | 'base_urls'>,
): Promise<Revocable> {
  const kept = await delegationByHash(database, delegation_hash);
  if (kept !== null) {
    const is_of_first_version = delegationHash(firstDomain, grantOf(kept)) === delegation_hash;
    return { ...kept, unbound: kept.boundAt === null, is_of_first_version };
  }
  if (delegation === null) throw new Refusal('not_found');
  const read = readDelegation(delegation);
  if (read.kind === 'malformed')
    throw new Refusal('delegation_invalid', { param: 'x-svc-delegation', detail: `The grant ${read.why}.` });
  const { grant } = read.shown;
  const named = namesOfGrant(grant, base_urls).find(name => name.delegation_hash === delegation_hash);
  if (named === undefined) throw new Refusal('not_found');
  const parent = hasParent(grant) ? await delegationByHash(database, grant.parentDelegationHash) : null;
  const path = [...(parent?.path ?? []), delegation_hash];
  const is_of_first_version = named.domain === firstDomain;
  return { delegationHash: delegation_hash, payer: grant.payer, path, unbound: true, is_of_first_version };
}

/**
 * Limits revocations of unbound grants per wallet, so that they do not fill the disk. A wallet that has never paid here is refused,
 * because only a payment of the payer can bind its grant. The caller has locked all revocations. @throws revocation_invalid
 */
async function requireUnboundRoom(tx: Tx, payer: string): Promise<void> {
  const { rowCount } = await tx.query({
    name: 'has paid',
    text: 'select 1 from receipt where payer_wallet = $1 and payment_ref is not null limit 1',
    values: [payer],
  });
  if (rowCount === 0)
    throw new Refusal('revocation_invalid', {
      param: 'x-svc-delegation',
      detail:
        'No payment has bound this grant, and its payer has not bought anything here yet. Pay for another call first.',
    });
  const standing = await unboundRevocationsOf(tx, payer);
  if (standing < sessionLimits.unbound_revocations_per_payer_max) return;
  throw new Refusal('revocation_invalid', {
    param: 'x-svc-delegation',
    detail: `A wallet can revoke at most ${sessionLimits.unbound_revocations_per_payer_max} grants that no payment has bound. Pay under this grant first, then revoke it.`,
  });
}
