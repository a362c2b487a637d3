import { z } from 'zod';
import { approvalMeans, approvalStatuses } from '../../schema/session/approval.ts';
import { nameComponents } from '../answer-shapes.ts';

/* What the doors of approvals answer, as it looks on the wire. No token stands in any of it. */

export const ApprovalAnswer = z.object({
  approval_id: z.string(),
  agent_id: z.int(),
  status: z
    .enum(approvalStatuses)
    .describe('`approved`: the very same call passes, once; `passed`: it has, or is under way.'),
  request_hash: z.string().describe('SHA-256 of field, canonical arguments and session: what is approved.'),
  amount: z.string().describe('Atomic USDC that the call would be charged.'),
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
  decided_by: z.enum(approvalMeans).nullable(),
  decided_at: z.iso.datetime().nullable(),
  passes_until: z.iso.datetime().nullable().describe('Until when the approved call passes.'),
});

export const ApprovalsAnswer = z.object({
  agent_id: z.int(),
  approvals: z.array(ApprovalAnswer).describe('Newest first, 200 at most.'),
});

nameComponents({ ApprovalRequest: ApprovalAnswer, Approvals: ApprovalsAnswer });
