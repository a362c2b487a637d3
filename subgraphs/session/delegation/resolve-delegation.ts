import { Refusal } from '../../../schema/errors.ts';
import { readDelegation, type ShownDelegation, type ShownGrant } from '../../../schema/session/delegation-header.ts';
import { grantDigest, type NamedGrant, namesOfGrant } from '../../../schema/session/grant.ts';
import { hasParent } from '../../../schema/session/grant-rule.ts';
import { isSignatureOfKey } from '../../../schema/session/public-key.ts';
import type { Database } from '../../database.ts';
import type { WalletProofs } from '../../wallet-proofs.ts';
import { grantRefusal } from './admit.ts';
import type { Delegation } from './delegation.entity.ts';
import { delegationByHash, delegationsByHash, isSignedBySame } from './find.ts';

/*
 * Determines the id of the session of a grant. The id depends on the EIP-712 domain under which the grant was signed, and the grant does
 * not name that domain.
 */

export interface DelegationReads {
  readonly database: Pick<Database, 'query'>;
  readonly wallets: WalletProofs;
  /** Base URLs of this service: the current one, then the former ones. */
  readonly base_urls: readonly string[];
}

/**
 * Reads the grant of an X-SVC-Delegation header, and determines the id of its session. The caller still has to verify the signature: if
 * it matches no domain, the id is the one under the current domain of this service. If this throws, nothing was charged. @throws
 * delegation_invalid, and chain_unavailable or unavailable if the domain could not be determined
 */
export async function resolveDelegation(
  parts: DelegationReads,
  header: string,
  asker: string,
): Promise<ShownDelegation> {
  const read = readDelegation(header);
  if (read.kind === 'malformed') throw grantRefusal(read.why);
  const names = namesOfGrant(read.shown.grant, parts.base_urls);
  return { ...read.shown, ...(await nameOf(parts, read.shown, names, asker)) };
}

/** Looks for a stored session, then for a signature by a key, then for one by a contract. Each step costs more than the one before. */
async function nameOf(
  parts: DelegationReads,
  shown: ShownGrant,
  names: readonly NamedGrant[],
  asker: string,
): Promise<NamedGrant> {
  const hashes = names.map(({ delegation_hash }) => delegation_hash);
  const known = new Map((await delegationsByHash(parts.database, hashes)).map(it => [it.delegationHash, it]));
  const [own] = names;
  if (own === undefined) throw new Error('a service has a base URL');
  return (
    names.find(name => {
      const session = known.get(name.delegation_hash);
      return session !== undefined && isSignedBySame(session, shown.signature);
    }) ??
    (await signedByKey(parts, shown, names)) ??
    (await signedByCode(parts, shown, { names, known, asker })) ??
    own
  );
}

/** Compares the signature with the key of the payer or, for a child, with the key of its parent session. */
async function signedByKey(
  { database }: DelegationReads,
  { grant, signature }: ShownGrant,
  names: readonly NamedGrant[],
) {
  const parent = hasParent(grant) ? await delegationByHash(database, grant.parentDelegationHash) : null;
  const signer = parent?.agentAddress ?? grant.payer;
  return names.find(({ domain }) => isSignatureOfKey(signer, grantDigest(domain, grant), signature));
}

interface DomainQuery {
  readonly names: readonly NamedGrant[];
  readonly known: ReadonlyMap<string, Delegation>;
  readonly asker: string;
}

/** Verifies the signature by the contract of the payer. Skipped if only one domain is possible, because admission verifies that one. */
async function signedByCode(
  { wallets, base_urls }: DelegationReads,
  { grant, signature }: ShownGrant,
  { names, known, asker }: DomainQuery,
): Promise<NamedGrant | undefined> {
  const possible = names.filter(({ delegation_hash }, index) => index < base_urls.length || known.has(delegation_hash));
  if (hasParent(grant) || possible.length === 1) return undefined;
  for (const name of possible) {
    const verdict = await wallets.verifies(grant.payer, grantDigest(name.domain, grant), signature, asker);
    if (verdict === 'valid') return name;
    if (verdict !== 'invalid')
      throw new Refusal(verdict === 'no_turn' ? 'unavailable' : 'chain_unavailable', { facts: { charged: false } });
  }
  return undefined;
}
