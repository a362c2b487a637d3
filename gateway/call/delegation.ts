import type { JsonObject } from '../../schema/canonical-json.ts';
import type { NetworkName } from '../../schema/network.ts';
import type { ShownDelegation } from '../../schema/session/delegation-header.ts';
import type { Context } from '../../subgraphs/context.ts';
import { grantRefusal } from '../../subgraphs/session/delegation/admit.ts';
import { type DelegationReads, resolveDelegation } from '../../subgraphs/session/delegation/resolve-delegation.ts';

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
