import type { JsonObject } from '../../schema/canonical-json.ts';
import type { NetworkName } from '../../schema/network.ts';
import { readDelegation, type ShownDelegation } from '../../schema/session/delegation-header.ts';
import type { Context } from '../../subgraphs/context.ts';
import { refused } from '../../subgraphs/session/delegation/admit.ts';

/* The grant of a session that comes beside a payment. */

/** Null where none came along. @throws delegation_invalid: nothing was charged, and the payment is unused */
export function delegationBeside({ delegation }: Context, network: NetworkName): ShownDelegation | null {
  if (delegation === null) return null;
  if (network !== 'base') throw refused('a payment on Base alone is made under a grant');
  const read = readDelegation(delegation);
  if (read.kind === 'malformed') throw refused(read.why);
  return read.shown;
}

/** The session that a claim is made under, as it is kept there, behind all that stand over it; empty where there is none. */
export function delegationPathOf({ delegation }: JsonObject): readonly string[] {
  const { path } = (delegation ?? {}) as { readonly path?: readonly string[] };
  return path ?? [];
}
