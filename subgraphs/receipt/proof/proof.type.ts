import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ProofOutcome } from '../../../schema/receipt-payload.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import type { TaskState } from '../../../schema/task-state.ts';
import { graphEnum } from '../../graph-enum.ts';
import { ProofOutcomeWord, TaskStateWord } from '../../words.ts';

/** Why a settlement is shown. */
export type ShownFor = 'requested' | 'above_cost_gate';

const ShownForWord = graphEnum<ShownFor>('ShownFor', 'Why a settlement is shown.', {
  requested: 'It was asked for.',
  above_cost_gate: 'So much was paid that it is shown unasked.',
});

@ObjectType({ description: 'Where a stranger finds the transfer that paid for a task. The chain alone proves it.' })
export class SettlementProof {
  @Field(() => String, { description: '`network:transaction`.' }) paymentRef!: string;
  @Field(() => String, { description: '`base`, `solana` or `nano`.' }) network!: string;
  @Field(() => String, { description: 'CAIP-2; `nano`, which has none.' }) chain!: string;
  @Field(() => String, { description: 'The transaction.' }) txHash!: string;
  @Field(() => Int, { nullable: true, description: 'Of the Transfer in its block; null where it was not looked at.' })
  transferIndex!: number | null;
  @Field(() => String, { description: 'The token, by its address.' }) asset!: string;
  @Field(() => AtomicAmountScalar, { description: 'Atomic units of it.' }) amount!: AtomicAmount;
  @Field(() => String, { description: 'From whom.' }) payer!: string;
  @Field(() => String, { description: 'To whom.' }) payTo!: string;
  @Field(() => String, {
    nullable: true,
    description:
      'Nonce of the authorization, or hash of the message: which payment it was. Null of a book chain, whose transfer is all that is known.',
  })
  paymentId!: string | null;
  @Field(() => Boolean, { description: 'Whether the issuer has seen the transfer, and does not go by another’s word.' })
  observed!: boolean;
}

@ObjectType({
  description: 'That the receipt stands in the log (RFC 9162 §2.1.3), under a head that the issuer signed.',
})
export class LogInclusion {
  @Field(() => Int, { description: 'Which log.' }) logId!: number;
  @Field(() => Int, { description: 'Its place there, from 0.' }) leafIndex!: number;
  @Field(() => String, { description: 'SHA-256 of 0x00 and the canonical payload; lower-case hex, as all hashes.' })
  leafHash!: string;
  @Field(() => [String], { description: 'From the leaf up.' }) path!: string[];
  @Field(() => Int, { description: 'Size of the tree under that head.' }) treeSize!: number;
  @Field(() => String, { description: 'Root of that tree.' }) rootHash!: string;
  @Field(() => String, { description: 'SHA-256 of the canonical {log_id, tree_size, root_hash}.' })
  treeHeadHash!: string;
  @Field(() => String, { description: 'ES256 JWS of the head.' }) jws!: string;
  @Field(() => String, { description: 'Which of the published keys signed the head.' }) kid!: string;
  @Field(() => DateTimeScalar, { description: 'When the head was signed.' }) at!: Date;
  @Field(() => GraphQLJSONObject, { description: 'What the leaf is made of, once it is canonical JSON.' })
  payload!: JsonObject;
}

@ObjectType({ description: 'What can be proven of a task, and what cannot.' })
export class ResultProof {
  @Field(() => String, { description: 'The task.' }) taskId!: string;
  @Field(() => TaskStateWord, { description: 'As taskStatus says it.' }) status!: TaskState;
  @Field(() => ProofOutcomeWord, { description: 'What is known of its money.' }) proofOutcome!: ProofOutcome;
  @Field(() => String, { description: 'Public page of its receipt or refusal.' }) verifyUrl!: string;
  @Field(() => ShownForWord, {
    nullable: true,
    description: '`requested` or `above_cost_gate`; null where it is not shown.',
  })
  shownFor!: ShownFor | null;
  @Field(() => SettlementProof, { nullable: true, description: 'Null where nothing was paid, or it is not shown.' })
  settlement!: SettlementProof | null;
  @Field(() => LogInclusion, { nullable: true, description: 'Null as long as there is no receipt.' })
  inclusion!: LogInclusion | null;
  @Field(() => [String], { description: 'What all this proves, in sentences.' }) proves!: readonly string[];
  @Field(() => [String], { description: 'What it does not, in sentences.' }) doesNotProve!: readonly string[];
}
