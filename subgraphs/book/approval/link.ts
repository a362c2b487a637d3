import { sameSecret } from '../../../schema/digest.ts';
import { Refusal } from '../../../schema/errors.ts';
import { approvalLimits } from '../../../schema/session/approval.ts';
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
 * The request that a link is for. A wrong token and a request that there is not are told alike, and so is a link at which
 * too often was guessed; what is compared are digests, in constant time. @throws not_found
 */
export async function linkedApproval(
  parts: Marking & { readonly database: Database },
  approval_id: string,
  token: string,
): Promise<FoundApproval> {
  const { database } = parts;
  const [found] = await findApprovals(database, { approval_id });
  const right = sameSecret(token, approvalToken(parts, approval_id));
  if (found && !right) await countTry(database, approval_id);
  if (!found || !right || found.tries >= approvalLimits.link_tries_max) throw new Refusal('not_found');
  return found;
}

async function countTry(database: Database, approval_id: string): Promise<void> {
  await database.query({
    name: 'count try of link',
    text: 'update approval_request set tries = tries + 1 where approval_id = $1 and tries < $2',
    values: [approval_id, approvalLimits.link_tries_max],
  });
}
