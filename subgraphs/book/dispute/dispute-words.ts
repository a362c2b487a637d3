import {
  type ClaimType,
  type DisputeOutcome,
  type DisputeReason,
  disputeReasons,
} from '../../../schema/dispute/reasons.ts';
import { graphEnum } from '../../graph-enum.ts';

/* Words of disputes, as the graph's enums. */

export const ClaimTypeWord = graphEnum<ClaimType>('DisputeClaimType', 'What is claimed of a row.', {
  output_missing: 'It was paid for, and nothing came.',
  wrong_model: 'Another model answered than the one that was requested.',
  double_charge: 'The same was charged before.',
});

export const DisputeOutcomeWord = graphEnum<DisputeOutcome>('DisputeOutcome', 'What a verdict comes to.', {
  refund: 'The payment is owed back. No money moves by itself.',
  partial: 'A part of what was paid for was delivered. No money moves by itself.',
  stand: 'Nothing is owed back.',
});

export const DisputeReasonWord = graphEnum<DisputeReason>(
  'DisputeReason',
  'By what a dispute was decided, or is open.',
  Object.fromEntries(Object.entries(disputeReasons).map(([reason, [, sentence]]) => [reason, sentence])) as Record<
    DisputeReason,
    string
  >,
);
