import { z } from 'zod';
import { approvalLimits, limits } from '../limits.ts';
import { approvalDecisions } from '../session/approval.ts';
import { wordList } from '../words.ts';
import { wellFormedText } from './text.ts';

/* How an approval request is named and answered. */

const ApprovalName = z.string().regex(/^approval_[0-9a-z]{26}$/, { error: 'is no id of an approval request' });

export const ApprovalPath = z.object({ approval_id: ApprovalName.describe('Of the approval request.') });

/** Which approval requests of a book. */
export const ApprovalsBefore = z.strictObject({
  before: ApprovalName.optional().describe(
    'Approval requests older than the one with this approval_id: pass `next` of the previous response.',
  ),
});

const decision = z.enum(wordList(approvalDecisions)).describe('`approve` lets the very same call pass, once.');

/** Body of POST /v1/agents/{agent_id}/book/approvals/{approval_id}. */
export const ApprovalAnswerRequest = z.strictObject({
  decision,
  wallet_signature: wellFormedText
    .max(limits.wallet_signature_chars_max)
    .describe(
      'Of the agentWallet, over `svc.approval.<decision>|<base URL of this service>|<approval_id>|<request_hash>|<unix_seconds>`: ' +
        'personal_sign, ERC-1271 or ERC-6492. A session alone answers nothing.',
    ),
  signature_timestamp: z.int().min(0).describe('The Unix seconds in the signed text: now.'),
});
export type ApprovalAnswerRequest = z.output<typeof ApprovalAnswerRequest>;

/** Of the link that a webhook was told, as its doors and fields take it. */
export const ApprovalToken = z
  .string()
  .min(1)
  .max(approvalLimits.token_chars_max)
  .describe('What stands behind the # of the link that the webhook was told, after the id.');

export const LinkedApproval = ApprovalPath.extend({ token: ApprovalToken });

/** Body of POST /v1/approvals/{approval_id}. */
export const LinkAnswerRequest = z.strictObject({ decision });
