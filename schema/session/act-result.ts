import { z } from 'zod';
import { onGraph, shownAsJson } from '../noun.ts';
import { actActions } from './act.ts';

/* Result of an act of a session. */

export const HandedOffNoun = z.object({
  task_id: z.string().describe('Task id of the child receipt.'),
  verify_url: z.string().describe('URL of the public page of the child receipt.'),
  parent_receipt_id: z.string().describe('Task id of the receipt that was handed off.'),
  target_agent: z.int().describe('Id of the agent that may redeem the child receipt.'),
});

export const RedeemedNoun = z.object({
  task_id: z.string().describe('Task id of the receipt that was redeemed.'),
  agent_id: z
    .int()
    .nullable()
    .describe('Id of the agent whose book has the row of the receipt now. Null if the receipt was not handed off.'),
});

export const ApprovedCallNoun = z.object({
  approval_id: z.string().describe('Id of the approval request that was answered.'),
  agent_id: z.int().describe('Id of the agent whose book required the approval.'),
  request_hash: z.string().describe('SHA-256 of the call that was approved, in hex.'),
});

export const SessionActNoun = z.object({
  action: z.enum(actActions).describe('Action that was signed: `handoff`, `read_private`, `redeem` or `approve`.'),
  resource: z.string().describe('Resource that the act names, as it was signed, such as `receipt/<task_id>`.'),
  delegation_hash: z.string().describe('Id of the session: the EIP-712 digest of its grant (0x and 64 hex digits).'),
  receipt: onGraph(
    'handedOff',
    HandedOffNoun.nullable().describe(
      'Child receipt that a `handoff` made, without payment and amount. Null for any other act.',
    ),
  ),
  redeemed: RedeemedNoun.nullable().describe(
    'Receipt whose claim a `redeem` closed, and the agent whose book now has its row: null in it if the receipt was not handed off. Null for any other act.',
  ),
  approved: ApprovedCallNoun.nullable().describe(
    'Approval request that an `approve` answered: its id, the agent of the book and the hash of the call. The same call passes once, before the approval expires. Null for any other act.',
  ),
  read: shownAsJson(z.record(z.string(), z.unknown()))
    .nullable()
    .describe(
      'What a `read_private` has read: {entries, truncated, next} for `book`, {format, document, truncated, next} for `book/export`, otherwise the receipt or the session. Null for any other act. If `truncated` is true, the session has older rows; `next` is the `payload.before` of the act that reads them.',
    ),
});
