import { sameSecret } from '../../../schema/digest.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { Database } from '../../database.ts';
import type { Vault } from '../../vault.ts';
import { type FoundApproval, findApprovals } from './find.ts';

/* Links that answer approval requests. */

const LABEL = 'approval link';

type LinkContext = { readonly vault: Pick<Vault, 'mark'> };

/** Token of the link of a request. It is derived whenever it is sent or checked, so that no row, event, job or response contains it. */
export function approvalToken({ vault }: LinkContext, approval_id: string): string {
  return vault.mark(approval_id, LABEL);
}

/** Link that answers a request. The token follows the `#`: browsers do not send that part, so no log contains it. */
export function approvalLink(parts: LinkContext & { readonly base_url: string }, approval_id: string): string {
  return `${parts.base_url}/approve#${approval_id}.${approvalToken(parts, approval_id)}`;
}

/**
 * The approval request that a link is for. A wrong token and an unknown request give the same response, and digests are compared in
 * constant time. Wrong tokens are not counted: a token of 128 bits cannot be guessed, and a limit would let anyone block the link.
 * @throws not_found
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
