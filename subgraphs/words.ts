import { networkWords } from '../schema/network.ts';
import { policyCodeWords, policyTypeWords } from '../schema/policy.ts';
import { type ProofOutcome, settledByWords } from '../schema/receipt-payload.ts';
import type { RefusalCode } from '../schema/refusal-payload.ts';
import { settlementStatuses } from '../schema/settlement-status.ts';
import type { TaskState } from '../schema/task-state.ts';
import { graphEnum, wordEnum } from './graph-enum.ts';

/* Words that types of several subgraphs show, as the graph's enums. */

export const SettledByWord = wordEnum(settledByWords);

export const ProofOutcomeWord = graphEnum<ProofOutcome>('ProofOutcome', 'What is known of the money of a task.', {
  settled: 'It was seen to arrive.',
  pending: 'It is vouched for, and not seen yet.',
  unverified: 'It was looked for in vain until the cutoff.',
  none: 'Nothing was paid: nothing will be there to prove.',
});

export const TaskStateWord = graphEnum<TaskState>('TaskState', 'Where a task stands.', {
  working: 'It is being worked for; nothing was charged yet.',
  settling: 'Its payment is under way, or may be.',
  released: 'Its payment was let go of, and may yet be used.',
  canceled: 'Its buyer has canceled it before its payment was sent: nothing was charged.',
  refused: "The payer's book refused it: nothing was charged.",
  completed: 'It was answered, and has a receipt.',
  accepted: 'It came without input, was taken on, and has a receipt.',
});

export const NetworkWord = wordEnum(networkWords);

export const SettlementStatusWord = wordEnum(settlementStatuses);

export const PolicyTypeWord = wordEnum(policyTypeWords);
export const PolicyCodeWord = wordEnum(policyCodeWords);

export const RefusalCodeWord = graphEnum<RefusalCode>(
  'RefusalCode',
  'Why the issuer refused a call, as it is signed.',
  {
    policy_blocked: 'A policy of the book.',
    budget_exhausted: 'The budget of the book.',
    approval_ttl_expired: 'The book wants a fresh approval of such a call.',
  },
);
