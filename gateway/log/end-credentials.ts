import { endApprovals } from '../../subgraphs/book/approval/forget.ts';
import { withdrawAllExports } from '../../subgraphs/book/export/publish.ts';
import { revokeAllAssignments } from '../../subgraphs/book/slice/assign.ts';
import type { EndCredentials } from '../../subgraphs/receipt/log/break.ts';
import { revokeAllSessions } from '../../subgraphs/session/delegation/revoke.ts';
import { endAllSessions } from '../../subgraphs/session/possession/end.ts';

/**
 * Ends all credentials when a break of the log is accepted, because credentials that were rotated, revoked or withdrawn in the lost part
 * would be valid again. Owners recover their books by their wallets. Two kinds are kept: webhook secrets, with which only this service
 * signs, and keys of router books, which could be neither revoked nor issued again.
 */
export const endCredentials: EndCredentials = async (tx, at) => {
  // The statements run one after another, so that each has the whole time limit.
  await endAllSessions(tx);
  await revokeAllAssignments(tx);
  await endApprovals(tx);
  await withdrawAllExports(tx);
  await revokeAllSessions(tx, at);
};
