import type { JsonObject } from '../../schema/canonical-json.ts';
import type { NetworkName } from '../../schema/network.ts';
import type { ShownDelegation } from '../../schema/session/delegation-header.ts';
import type { Context } from '../../subgraphs/context.ts';
import { refused } from '../../subgraphs/session/delegation/admit.ts';
import { type ShownParts, shownDelegation } from '../../subgraphs/session/delegation/shown.ts';

/* The grant of a session that comes beside a payment. */

/**
 * Null where none came along. Uncharged: @throws delegation_invalid; chain_unavailable, unavailable where nobody could say what it
 * was signed for
 */
export async function delegationBeside(
  parts: ShownParts,
  { delegation, principal }: Context,
  network: NetworkName,
): Promise<ShownDelegation | null> {
  if (delegation === null) return null;
  if (network !== 'base') throw refused('only a payment on Base can be made under a grant');
  return shownDelegation(parts, delegation, principal.address);
}

/** The session that a claim is made under, as it is kept there, behind all that stand over it; empty where there is none. */
export function delegationPathOf({ delegation }: JsonObject): readonly string[] {
  const { path } = (delegation ?? {}) as { readonly path?: readonly string[] };
  return path ?? [];
}
