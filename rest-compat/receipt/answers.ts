import { z } from 'zod';
import { RefusalNoun } from '../../schema/refusal.ts';
import { LogInclusionNoun, ResultProofNoun, SettlementProofNoun } from '../../schema/result-proof.ts';
import { SettlementNoun, TaskStatusNoun } from '../../schema/settlement.ts';
import { JsonMembers, nameComponents, Problem } from '../answer-shapes.ts';

export const KeySetAnswer = z.object({
  keys: z.array(JsonMembers).describe('All public keys of the issuer (JWK), earlier ones included.'),
  addresses: z
    .string()
    .describe(
      'Compact JWS (ES256, `typ` svc-addresses+jwt) over {iss, iat, base_urls}: the base URL of this service and its earlier ones. A verifier accepts only links of a receipt to these URLs.',
    ),
});

/** Response to a refused call: the signed refusal together with the problem. */
export const RefusedCallAnswer = z.object({ ...Problem.shape, ...RefusalNoun.shape });

nameComponents({
  TaskStatus: TaskStatusNoun,
  KeySet: KeySetAnswer,
  SettlementStatus: SettlementNoun,
  ProvenSettlement: SettlementProofNoun,
  LogInclusion: LogInclusionNoun,
  ResultProof: ResultProofNoun,
  Refusal: RefusalNoun,
  RefusedCall: RefusedCallAnswer,
});
