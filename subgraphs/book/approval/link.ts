import { sameSecret } from '../../../schema/digest.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { Database } from '../../database.ts';
import type { Vault } from '../../vault.ts';
import { type FoundApproval, findApprovals } from './find.ts';

/* The link that answers a request. */

const LABEL = 'approval link';

type LinkContext = { readonly vault: Pick<Vault, 'mark'> };

/** Derived whenever it is sent or checked, so that it is stored in no row, event, job or response. */
export function approvalToken({ vault }: LinkContext, approval_id: string): string {
  return vault.mark(approval_id, LABEL);
}

/** The token is behind the `#`, which no browser sends and no log contains. */
export function approvalLink(parts: LinkContext & { readonly base_url: string }, approval_id: string): string {
  return `${parts.base_url}/approve#${approval_id}.${approvalToken(parts, approval_id)}`;
}

/**
 * The request of a link. A wrong token and an unknown request give the same response; digests are compared in constant time.
 * Guesses are not counted, because the token has 128 bits, and closing a link after wrong tokens would let anyone block it. @throws
 * not_found
 */
export async function linkedApproval(
  parts: LinkContext & { readonly database: Database },
  approval_id: string,
  token: string,
): Promise<FoundApproval> {
  const [found] = await findApprovals(parts.database, { approval_id });
  const right = sameSecret(token, approvalToken(parts, approval_id));
  if (!found || !right) throw new Refusal('not_found');
  return found;
}
