import { z } from 'zod';
import { approvalLimits } from '../limits.ts';
import { AmountTextMember, MomentMember, onGraph, sizedList, word } from '../noun.ts';
import { signedText } from '../signed-words.ts';
import type { WordOf, Words } from '../words.ts';

/*
 * Approval requests: what a person can answer, what is shown, and the texts that are signed for an answer or for the URL that
 * receives links.
 */

export const approvalDecisions = {
  graph: 'ApprovalDecision',
  description: 'Whether a refused call that requires an approval may pass.',
  meanings: {
    approve: 'The same call passes once, before the approval expires.',
    deny: 'The call stays refused.',
  },
} as const satisfies Words;
export type ApprovalDecision = WordOf<typeof approvalDecisions>;

export const approvalMethods = {
  graph: 'ApprovalMeans',
  description: 'How an approval request was answered: by a signature or by a link.',
  meanings: {
    wallet: 'The wallet of the agent signed the answer.',
    act: 'A session above the one that made the call signed the answer, in an act `approve`.',
    link: 'The link that was sent to the webhook was used.',
  },
} as const satisfies Words;
export type ApprovalMethod = WordOf<typeof approvalMethods>;

export const approvalStatuses = {
  graph: 'ApprovalStatus',
  description: 'Whether an approval request awaits an answer, was answered, has expired or was used.',
  meanings: {
    open: 'The request has no answer yet.',
    approved: 'The request was approved: the same call passes once, before the approval expires.',
    denied: 'The request was denied: the call stays refused.',
    expired: 'The request was not answered in time, or the approved call was not sent in time.',
    passed: 'A call has used the approval, and is in progress or recorded.',
  },
} as const satisfies Words;
export type ApprovalStatus = WordOf<typeof approvalStatuses>;

/** A call that requires an approval. It never contains the token of a link. */
export const ApprovalNoun = z.object({
  approval_id: z.string().describe('Id of the approval request.'),
  agent_id: z.int().describe('Id of the agent of the book that refused the call.'),
  status: word(approvalStatuses).describe(
    'Status of the request: `open`, `approved` (the same call passes once), `denied`, `expired`, or `passed` (the call has passed or is in progress).',
  ),
  request_hash: z
    .string()
    .describe('SHA-256 (hex) of field, canonical arguments and session. The approval is for exactly this call.'),
  amount: onGraph('amountAtomic', AmountTextMember.describe('Amount that the call would be charged, in atomic USDC.')),
  payer: z.string().describe('Wallet that the call would be paid from.'),
  delegation_hash: z
    .string()
    .nullable()
    .describe(
      'Delegation hash (0x and 64 hex digits) of the session that the call is made under. Null if there is none.',
    ),
  model: z.string().nullable().describe('Model that the request names. Null if it names none.'),
  field: z.string().describe('Paid GraphQL field of the call, such as `Mutation.createChatCompletion`.'),
  doors: z.array(z.string()).describe('Names of the endpoints that run `field`.'),
  task_id: z.string().describe('Task id of the row of the refused call.'),
  seq: z.int().describe('The seq of the row of the refused call.'),
  policy_code: z.string().describe('Rule that requires the approval, as a code, such as `tier2_approval_missing`.'),
  asked_at: MomentMember.describe('Time the call was refused (RFC 3339, UTC).'),
  open_until: MomentMember.describe('Time until which the request can be answered (RFC 3339, UTC).'),
  decided_by: word(approvalMethods)
    .nullable()
    .describe('How the request was answered: `wallet`, `act` or `link`. Null if it was not answered.'),
  decided_at: MomentMember.nullable().describe(
    'Time the request was answered (RFC 3339, UTC). Null if it was not answered.',
  ),
  passes_until: MomentMember.nullable().describe(
    'Time until which the approved call passes (RFC 3339, UTC). Null if it was not approved.',
  ),
  request_text: z
    .string()
    .nullable()
    .describe(
      `Text of the request that \`request_hash\` covers: at most the first ${approvalLimits.request_text_characters_max} characters. Null once the request is answered or has expired, and if the stored text cannot be decrypted.`,
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
      'Purpose of the call as stated by the caller (`X-SVC-Note`). It is not verified and not part of what is approved. Null if the caller stated none, and whenever `request_text` is null.',
    ),
});

export const ApprovalsNoun = z.object({
  agent_id: z.int().describe('Id of the agent of the book.'),
  approvals: sizedList(ApprovalNoun, approvalLimits.shown_max).describe(
    `Approval requests, newest first, at most ${approvalLimits.shown_max}.`,
  ),
  next: z.string().nullable().describe('`before` of the next page. Null if there is none.'),
});

export interface ApprovalStanding {
  readonly decision: ApprovalDecision | null;
  /** True if a call in progress or recorded uses the approval. */
  readonly taken: boolean;
  /** Time until which it can be answered. `passes_until_ms`: time until which an approval is valid. */
  readonly open_until_ms: number;
  readonly passes_until_ms: number | null;
}

export function approvalStatusOf(
  { decision, taken, open_until_ms, passes_until_ms }: ApprovalStanding,
  now_ms: number,
): ApprovalStatus {
  if (taken) return 'passed';
  if (decision === 'deny') return 'denied';
  if (decision === null) return now_ms < open_until_ms ? 'open' : 'expired';
  return passes_until_ms !== null && now_ms <= passes_until_ms ? 'approved' : 'expired';
}

export interface NamedApproval {
  readonly approval_id: string;
  readonly request_hash: string;
}

/** Text that the agentWallet signs (EIP-191): for this service, this request, this answer, at this time. */
export function approvalText(
  base_url: string,
  { approval_id, request_hash }: NamedApproval,
  decision: ApprovalDecision,
  at_seconds: number,
): string {
  return signedText(decision, base_url, { approval_id, request_hash, unix_seconds: at_seconds });
}

/**
 * Text that the agentWallet signs (EIP-191) to let approval links be sent to a URL: for this service, this book, this URL, at this
 * time. `url` as `new URL(url).href` writes it.
 */
export function approvalWebhookText(
  base_url: string,
  { agent_id, url }: { readonly agent_id: number; readonly url: string },
  at_seconds: number,
): string {
  return signedText('approval_webhook', base_url, { agent_id, url, unix_seconds: at_seconds });
}
