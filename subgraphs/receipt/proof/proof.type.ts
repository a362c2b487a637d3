import { LogInclusionNoun, ResultProofNoun, SettlementProofNoun } from '../../../schema/result-proof.ts';
import { objectType } from '../../graph-type.ts';

/* Types of the proof of a task. */

export const SettlementProof = objectType(
  'SettlementProof',
  'Transfer that paid for a task, to be looked up on its chain. Only the chain proves the transfer.',
  SettlementProofNoun,
);
export type SettlementProof = InstanceType<typeof SettlementProof>;

export const LogInclusion = objectType(
  'LogInclusion',
  'Proof that the log contains the receipt (RFC 9162 §2.1.3), under a tree head that the issuer signed.',
  LogInclusionNoun,
);
export type LogInclusion = InstanceType<typeof LogInclusion>;

export const ResultProof = objectType(
  'ResultProof',
  'Proof of a task, with statements of what it proves and what it does not.',
  ResultProofNoun,
);
export type ResultProof = InstanceType<typeof ResultProof>;
