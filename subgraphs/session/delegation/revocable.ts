import { Refusal } from '../../../schema/errors.ts';
import { sessionLimits } from '../../../schema/limits.ts';
import { readDelegation } from '../../../schema/session/delegation-header.ts';
import { delegationHash, namesOfGrant } from '../../../schema/session/grant.ts';
import { hasParent } from '../../../schema/session/grant-rule.ts';
import { firstDomain } from '../../../schema/session/typed-data.ts';
import type { Tx } from '../../database.ts';
import { unboundRevocationsOf } from '../../receipt/issuer/revoked-sessions.ts';
import type { SessionContext } from '../context.ts';
import type { Delegation } from './delegation.entity.ts';
import { delegationByHash, grantOf } from './find.ts';

/** What a revocation is held against: of a session that a payment was made under, or of a grant that is shown. */
export interface Revocable extends Pick<Delegation, 'delegationHash' | 'payer' | 'path'> {
  /** No recorded payment has bound it. */
  readonly unbound: boolean;
  /** It is named by version 1 of the domain, which its payer may have signed as well. */
  readonly is_of_first_version: boolean;
}

/** @throws not_found where no such payment was made and no such grant is shown, delegation_invalid where what is shown is none */
export async function revocable(
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
 * Whoever signs grants and revokes them must not fill the disk: a wallet that has paid here may revoke so many that no
 * payment has bound. Under no other wallet's can one be: its payer's own payment binds a grant. All revocations are locked.
 * @throws revocation_invalid
 */
export async function requireUnboundRoom(tx: Tx, payer: string): Promise<void> {
  const { rowCount } = await tx.query({
    name: 'has paid',
    text: 'select 1 from receipt where payer_wallet = $1 and payment_ref is not null limit 1',
    values: [payer],
  });
  if (rowCount === 0)
    throw new Refusal('revocation_invalid', {
      param: 'x-svc-delegation',
      detail: 'Its payer has bought nothing here yet, and no payment has bound the grant: pay for anything else first.',
    });
  const standing = await unboundRevocationsOf(tx, payer);
  if (standing < sessionLimits.unbound_revocations_per_payer_max) return;
  throw new Refusal('revocation_invalid', {
    param: 'x-svc-delegation',
    detail: `A wallet revokes ${sessionLimits.unbound_revocations_per_payer_max} grants that no payment has bound: pay under this one, and revoke it then.`,
  });
}
