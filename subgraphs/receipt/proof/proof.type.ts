import { LogInclusionNoun, ResultProofNoun, SettlementProofNoun } from '../../../schema/result-proof.ts';
import { objectType } from '../../graph-type.ts';

/* What can be proven of a task, as the graph shows it. */

export const SettlementProof = objectType(
  'SettlementProof',
  'Where the transfer that paid for a task is found. The chain alone proves it.',
  SettlementProofNoun,
);
export type SettlementProof = InstanceType<typeof SettlementProof>;

export const LogInclusion = objectType(
  'LogInclusion',
  'That the receipt stands in the log (RFC 9162 §2.1.3), under a head that the issuer signed.',
  LogInclusionNoun,
);
export type LogInclusion = InstanceType<typeof LogInclusion>;

export const ResultProof = objectType('ResultProof', 'What can be proven of a task, and what cannot.', ResultProofNoun);
export type ResultProof = InstanceType<typeof ResultProof>;
