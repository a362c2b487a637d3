import { signedText } from '../signed-words.ts';
import type { WordOf, Words } from '../words.ts';

/* What a person may answer to a call that a book wants approved, and what they sign for it, or for where it is told. */

export const approvalDecisions = {
  graph: 'ApprovalDecision',
  description: 'What is answered.',
  meanings: {
    approve: 'The very same call passes, once, within its time.',
    deny: 'It stays refused.',
  },
} as const satisfies Words;
export type ApprovalDecision = WordOf<typeof approvalDecisions>;

export const approvalMeans = {
  graph: 'ApprovalMeans',
  description: 'By what it was answered.',
  meanings: {
    wallet: "A signature of the agent's wallet.",
    act: "A signed act of a session over the caller's.",
    link: 'The link that the webhook was told.',
  },
} as const satisfies Words;
export type ApprovalMeans = WordOf<typeof approvalMeans>;

export const approvalStatuses = {
  graph: 'ApprovalStatus',
  description: 'How a request stands.',
  meanings: {
    open: 'It waits for an answer.',
    approved: 'The very same call passes, once.',
    denied: 'The call stays refused.',
    expired: 'It was not answered in its time, or the call did not come in its.',
    passed: 'A call has taken the approval, and is under way or recorded.',
  },
} as const satisfies Words;
export type ApprovalStatus = WordOf<typeof approvalStatuses>;

export interface ApprovalStanding {
  readonly decision: ApprovalDecision | null;
  /** A call under way or recorded holds it. */
  readonly taken: boolean;
  /** Until when it may be answered, and until when an approval of it serves. */
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

/** What the wallet of the book's agent signs (EIP-191): of this service, this one request, this one answer, now. */
export function approvalText(
  base_url: string,
  { approval_id, request_hash }: NamedApproval,
  decision: ApprovalDecision,
  at_seconds: number,
): string {
  return signedText(decision, base_url, { approval_id, request_hash, unix_seconds: at_seconds });
}

/**
 * What the wallet of the book's agent signs (EIP-191) that links which answer approvals go to a URL: of this service, this
 * book, this URL, now. `url` as the URL standard writes it, `new URL(url).href`.
 */
export function approvalWebhookText(
  base_url: string,
  { agent_id, url }: { readonly agent_id: number; readonly url: string },
  at_seconds: number,
): string {
  return signedText('approval_webhook', base_url, { agent_id, url, unix_seconds: at_seconds });
}
