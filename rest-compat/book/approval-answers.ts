import { z } from 'zod';
import { approvalLimits } from '../../schema/limits.ts';
import { approvalMeans, approvalStatuses } from '../../schema/session/approval.ts';
import { wordList } from '../../schema/words.ts';
import { nameComponents } from '../answer-shapes.ts';

/* What the doors of approvals answer, as it looks on the wire. No token stands in any of it. */

export const ApprovalAnswer = z.object({
  approval_id: z.string(),
  agent_id: z.int(),
  status: z
    .enum(wordList(approvalStatuses))
    .describe('`approved`: the very same call passes, once; `passed`: it has, or is under way.'),
  request_hash: z.string().describe('SHA-256 of field, canonical arguments and session: what is approved.'),
  amount: z.string().describe('Atomic USDC that the call would be charged.').meta({ graph: 'amountAtomic' }),
  payer: z.string(),
  delegation_hash: z.string().nullable().describe('The delegated session that it is made under.'),
  model: z.string().nullable(),
  field: z.string(),
  doors: z.array(z.string()),
  task_id: z.string().describe('Of the row of the refused call.'),
  seq: z.int(),
  policy_code: z.string(),
  asked_at: z.iso.datetime(),
  open_until: z.iso.datetime().describe('Until when it may be answered.'),
  decided_by: z.enum(wordList(approvalMeans)).nullable(),
  decided_at: z.iso.datetime().nullable(),
  passes_until: z.iso.datetime().nullable().describe('Until when the approved call passes.'),
  request_text: z
    .string()
    .nullable()
    .describe(
      `What the call asks for, taken from the request that \`request_hash\` is of: at most the first ${approvalLimits.request_text_characters_max} characters. Null once it is answered or has expired.`,
    ),
  request_text_characters: z
    .int()
    .nullable()
    .describe(
      'Length of the whole text of the request, in Unicode code points. The part beyond `request_text` is not shown. Null without `request_text`.',
    ),
  note: z
    .string()
    .nullable()
    .describe(
      'What the caller says that the call is for (`X-SVC-Note`): its own claim, which nobody has checked and which is not part of what is approved. Null without `request_text`.',
    ),
});

export const ApprovalsAnswer = z.object({
  agent_id: z.int(),
  approvals: z.array(ApprovalAnswer).describe('Newest first, 200 at most.'),
  next: z.string().nullable().describe('`before` of the next page. Null if there is none.'),
});

nameComponents({ ApprovalRequest: ApprovalAnswer, Approvals: ApprovalsAnswer });
