import { endApprovals } from '../../subgraphs/book/approval/forget.ts';
import { withdrawAllExports } from '../../subgraphs/book/export/publish.ts';
import { revokeAllAssignments } from '../../subgraphs/book/slice/assign.ts';
import type { EndCredentials } from '../../subgraphs/receipt/log/break.ts';
import { revokeAllSessions } from '../../subgraphs/session/delegation/revoke.ts';
import { endAllSessions } from '../../subgraphs/session/possession/end.ts';

/**
 * Ends all credentials when a break of the log is accepted, because those rotated, revoked or withdrawn in the lost part would work again.
 * Owners recover by their wallets. Kept are webhook secrets, with which only we sign, and keys of router books, which could be neither
 * revoked nor issued again.
 */
export const endCredentials: EndCredentials = async (tx, at) => {
  // One after another, so that each statement has the whole time limit.
  await endAllSessions(tx);
  await revokeAllAssignments(tx);
  await endApprovals(tx);
  await withdrawAllExports(tx);
  await revokeAllSessions(tx, at);
};
