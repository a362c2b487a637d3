import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { LogInclusionNoun, proofReasons, ResultProofNoun, SettlementProofNoun } from '../../../schema/result-proof.ts';
import { wordEnum } from '../../graph-enum.ts';
import { showMembers } from '../../graph-type.ts';
import { ProofOutcomeWord, TaskStateWord } from '../../words.ts';

const ShownForWord = wordEnum(proofReasons);

const Settlement = class {} as new () => MembersOf<typeof SettlementProofNoun>;
const Inclusion = class {} as new () => MembersOf<typeof LogInclusionNoun>;
const Result = class {} as new () => MembersOf<typeof ResultProofNoun>;

@ObjectType({ description: 'Where a stranger finds the transfer that paid for a task. The chain alone proves it.' })
export class SettlementProof extends Settlement {}

@ObjectType({
  description: 'That the receipt stands in the log (RFC 9162 §2.1.3), under a head that the issuer signed.',
})
export class LogInclusion extends Inclusion {
  @Field(() => GraphQLJSONObject, {
    description: 'Payload of the receipt. Its canonical JSON is what the leaf is made of.',
  })
  payload!: JsonObject;
}

@ObjectType({ description: 'What can be proven of a task, and what cannot.' })
export class ResultProof extends Result {}

showMembers(SettlementProof, SettlementProofNoun);
showMembers(LogInclusion, LogInclusionNoun);
showMembers(ResultProof, ResultProofNoun, {
  status: TaskStateWord,
  proof_outcome: ProofOutcomeWord,
  shown_for: ShownForWord,
  settlement: SettlementProof,
  inclusion: LogInclusion,
});
