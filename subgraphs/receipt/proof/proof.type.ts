import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { LogInclusionNoun, ResultProofNoun, SettlementProofNoun } from '../../../schema/result-proof.ts';
import { membersOf, objectType, showMembers } from '../../graph-type.ts';

export const SettlementProof = objectType(
  'SettlementProof',
  'Where the transfer that paid for a task is found. The chain alone proves it.',
  SettlementProofNoun,
);
export type SettlementProof = InstanceType<typeof SettlementProof>;

@ObjectType({
  description: 'That the receipt stands in the log (RFC 9162 §2.1.3), under a head that the issuer signed.',
})
export class LogInclusion extends membersOf(LogInclusionNoun) {
  @Field(() => GraphQLJSONObject, {
    description: 'Payload of the receipt. Its canonical JSON is what the leaf is made of.',
  })
  payload!: JsonObject;
}
showMembers(LogInclusion, LogInclusionNoun);

export const ResultProof = objectType('ResultProof', 'What can be proven of a task, and what cannot.', ResultProofNoun);
export type ResultProof = InstanceType<typeof ResultProof>;
