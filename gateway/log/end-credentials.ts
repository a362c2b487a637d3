import { endApprovals } from '../../subgraphs/book/approval/forget.ts';
import { withdrawAllExports } from '../../subgraphs/book/export/publish.ts';
import { revokeAllAssignments } from '../../subgraphs/book/slice/assign.ts';
import type { EndCredentials } from '../../subgraphs/receipt/log/break.ts';
import { revokeAllSessions } from '../../subgraphs/session/delegation/revoke.ts';
import { endAllSessions } from '../../subgraphs/session/possession/end.ts';

/**
 * Ends whatever opens a book or stands in for its owner, as a break of the log is accepted: what was rotated away, revoked or withdrawn
 * after the state that is left would open it again. Owners recover by their wallets. Not a webhook's secret, by which we sign and nobody
 * asks; nor the key of a router book, which nobody could revoke or be given again.
 */
export const endCredentials: EndCredentials = async (tx, at) => {
  // One by one, so that each statement has all of its time.
  await endAllSessions(tx);
  await revokeAllAssignments(tx);
  await endApprovals(tx);
  await withdrawAllExports(tx);
  await revokeAllSessions(tx, at);
};
