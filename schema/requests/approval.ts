import { z } from 'zod';
import { approvalLimits, limits } from '../limits.ts';
import { word } from '../noun.ts';
import { approvalDecisions } from '../session/approval.ts';
import { wellFormedText } from './text.ts';

/* Requests that read and answer approval requests. */

const ApprovalName = z.string().regex(/^approval_[0-9a-z]{26}$/, { error: 'is not the id of an approval request' });

export const ApprovalPath = z.object({ approval_id: ApprovalName.describe('Id of the approval request.') });

/** Page of the approval requests of a book. */
export const ApprovalsBefore = z.strictObject({
  before: ApprovalName.optional().describe(
    'Returns only approval requests older than the one with this approval_id: pass `next` of the previous response. Default: starts at the newest.',
  ),
});

const decision = word(approvalDecisions);

/** Body of POST /v1/agents/{agent_id}/book/approvals/{approval_id}. */
export const ApprovalAnswerRequest = z.strictObject({
  decision,
  wallet_signature: wellFormedText
    .max(limits.wallet_signature_chars_max)
    .describe(
      'Signature of the wallet of the agent over `svc.approval.<decision>|<base URL of this service>|<approval_id>|<request_hash>|<unix_seconds>`: ' +
        'personal_sign, ERC-1271 or ERC-6492. A session does not suffice.',
    ),
  signature_timestamp: z
    .int()
    .min(0)
    .describe('Current time in Unix seconds, as in the text that `wallet_signature` signs.'),
});
export type ApprovalAnswerRequest = z.output<typeof ApprovalAnswerRequest>;

/** Token of the link that was sent to a webhook. */
export const ApprovalToken = z
  .string()
  .min(1)
  .max(approvalLimits.token_chars_max)
  .describe('Secret of the approval link that the webhook was sent. The link ends with `#<approval_id>.<token>`.');

/** Approval request, named by the link that was sent to a webhook. */
export const LinkedApproval = ApprovalPath.extend({ token: ApprovalToken });

/** Body of POST /v1/approvals/{approval_id}. */
export const LinkAnswerRequest = z.strictObject({ decision });
