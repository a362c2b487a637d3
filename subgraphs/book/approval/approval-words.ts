import type { ApprovalDecision, ApprovalMeans, ApprovalStatus } from '../../../schema/session/approval.ts';
import { graphEnum } from '../../graph-enum.ts';

/* Words of approval requests, as the graph's enums. */

export const ApprovalDecisionWord = graphEnum<ApprovalDecision>('ApprovalDecision', 'What is answered.', {
  approve: 'The very same call passes, once, within its time.',
  deny: 'It stays refused.',
});

export const ApprovalMeansWord = graphEnum<ApprovalMeans>('ApprovalMeans', 'By what it was answered.', {
  wallet: "A signature of the agent's wallet.",
  act: "A signed act of a session over the caller's.",
  link: 'The link that the webhook was told.',
});

export const ApprovalStatusWord = graphEnum<ApprovalStatus>('ApprovalStatus', 'How a request stands.', {
  open: 'It waits for an answer.',
  approved: 'The very same call passes, once.',
  denied: 'The call stays refused.',
  expired: 'It was not answered in its time, or the call did not come in its.',
  passed: 'A call has taken the approval, and is under way or recorded.',
});
