import { sameSecret } from '../../../schema/digest.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { Database } from '../../database.ts';
import type { Vault } from '../../vault.ts';
import { type FoundApproval, findApprovals } from './find.ts';

/* The link by which a request is answered by whoever was told of it. */

const LABEL = 'approval link';

type Marking = { readonly vault: Pick<Vault, 'mark'> };

/** Made anew where it is told or shown, so that it stands nowhere: in no row, no event, no job and no answer of ours. */
export function approvalToken({ vault }: Marking, approval_id: string): string {
  return vault.mark(approval_id, LABEL);
}

/** Behind the #, where no browser sends it to anybody and no log has it: the page takes it from there. */
export function approvalLink(parts: Marking & { readonly base_url: string }, approval_id: string): string {
  return `${parts.base_url}/approve#${approval_id}.${approvalToken(parts, approval_id)}`;
}

/**
 * The request that a link is for. A wrong token and a request that there is not are told alike; what is compared are
 * digests, in constant time. Guesses are not counted: the token is 128 bits of a mark that nobody else can make, and whoever could
 * close a link by wrong ones would keep a person from answering. @throws not_found
 */
export async function linkedApproval(
  parts: Marking & { readonly database: Database },
  approval_id: string,
  token: string,
): Promise<FoundApproval> {
  const [found] = await findApprovals(parts.database, { approval_id });
  const right = sameSecret(token, approvalToken(parts, approval_id));
  if (!found || !right) throw new Refusal('not_found');
  return found;
}
