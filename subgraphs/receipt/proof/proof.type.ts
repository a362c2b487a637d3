import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ProofOutcome } from '../../../schema/receipt-payload.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';

/** Why a settlement is shown. */
export type ShownFor = 'requested' | 'above_cost_gate';

@ObjectType({ description: 'Where a stranger finds the transfer that paid for a task. The chain alone proves it.' })
export class SettlementProof {
  @Field(() => String) paymentRef!: string;
  @Field(() => String) network!: string;
  @Field(() => String, { description: 'CAIP-2.' }) chain!: string;
  @Field(() => String) txHash!: string;
  @Field(() => Int, { nullable: true, description: 'Of the Transfer in its block; null where it was not looked at.' })
  transferIndex!: number | null;
  @Field(() => String) asset!: string;
  @Field(() => AtomicAmountScalar) amount!: AtomicAmount;
  @Field(() => String) payer!: string;
  @Field(() => String) payTo!: string;
  @Field(() => String) paymentId!: string;
  @Field(() => Boolean, { description: 'Whether the issuer has seen the transfer, and does not go by another’s word.' })
  observed!: boolean;
}

@ObjectType({
  description: 'That the receipt stands in the log (RFC 9162 §2.1.3), under a head that the issuer signed.',
})
export class LogInclusion {
  @Field(() => Int) logId!: number;
  @Field(() => Int) leafIndex!: number;
  @Field(() => String, { description: 'SHA-256 of 0x00 and the canonical payload; lower-case hex, as all hashes.' })
  leafHash!: string;
  @Field(() => [String], { description: 'From the leaf up.' }) path!: string[];
  @Field(() => Int) treeSize!: number;
  @Field(() => String) rootHash!: string;
  @Field(() => String, { description: 'SHA-256 of the canonical {log_id, tree_size, root_hash}.' })
  treeHeadHash!: string;
  @Field(() => String, { description: 'ES256 JWS of the head.' }) jws!: string;
  @Field(() => String) kid!: string;
  @Field(() => DateTimeScalar) at!: Date;
  @Field(() => GraphQLJSONObject, { description: 'What the leaf is made of, once it is canonical JSON.' })
  payload!: JsonObject;
}

@ObjectType({ description: 'What can be proven of a task, and what cannot.' })
export class ResultProof {
  @Field(() => String) taskId!: string;
  @Field(() => String) status!: string;
  @Field(() => String) proofOutcome!: ProofOutcome;
  @Field(() => String) verifyUrl!: string;
  @Field(() => String, { nullable: true, description: '`requested` or `above_cost_gate`; null where it is not shown.' })
  shownFor!: ShownFor | null;
  @Field(() => SettlementProof, { nullable: true, description: 'Null where nothing was paid, or it is not shown.' })
  settlement!: SettlementProof | null;
  @Field(() => LogInclusion, { nullable: true, description: 'Null as long as there is no receipt.' })
  inclusion!: LogInclusion | null;
  @Field(() => [String]) proves!: readonly string[];
  @Field(() => [String]) doesNotProve!: readonly string[];
}
