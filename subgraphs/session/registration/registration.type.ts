import { GraphQLSafeInt } from 'graphql-scalars';
import { Field, InputType, Int, ObjectType } from 'type-graphql';
import type { SettlementStatus } from '../../selling.ts';
import { SettlementStatusWord } from '../../words.ts';
import type { RegistrationAnswer } from './answer.ts';

@InputType({
  description: 'Without taskId: pay the stamp. With it: register by that receipt, or recover its registration.',
})
export class RegisterAgentInput {
  @Field(() => String, { description: 'The wallet that is to have a book: 0x and 40 hex digits.' })
  agentWallet!: string;
  @Field(() => String, { nullable: true, description: 'A collected receipt of the same wallet.' })
  taskId?: string | null;
  @Field(() => String, { nullable: true, description: 'Over the control text: personal_sign, ERC-1271 or ERC-6492.' })
  walletSignature?: string | null;
  @Field(() => GraphQLSafeInt, { nullable: true, description: 'The Unix seconds in the control text.' })
  signatureTimestamp?: number | null;
  @Field(() => String, {
    nullable: true,
    description: 'Any 32 bytes, kept with the agent; keccak256 of the control text where left out.',
  })
  requestHash?: string | null;
  @Field(() => String, { nullable: true, description: 'Plain book proof by the session in force: a wrong one is 400.' })
  proof?: string | null;
}

@ObjectType({ description: 'A registered agent and the secret that opens its book.' })
export class AgentRegistration {
  @Field(() => Int, { description: 'Its number, for ever.' }) agentId!: number;
  @Field(() => String, { description: 'In EIP-55 spelling.' }) agentWallet!: string;
  @Field(() => String, { description: 'Possession secret of the book: not an API key, not a wallet.' })
  session!: string;
  @Field(() => String, { description: 'The task whose receipt registered it.' }) taskId!: string;
  @Field(() => String, {
    description:
      'Hash that is stored with the agent (0x and 64 hex digits): `request_hash` of the request or, without it, keccak256 of the signed control text.',
  })
  requestHash!: string;
  @Field(() => Int, { nullable: true, description: 'Null while nothing scores.' }) validateScore!: number | null;
  @Field(() => SettlementStatusWord, { description: '`settled` or `idempotent_replay`.' }) settlementStatus!: string;
  @Field(() => Boolean, { description: 'Whether this had been answered before.' }) idempotentReplay!: boolean;
  @Field(() => String, { nullable: true, description: 'task_id of the canonical row.' }) replayOf!: string | null;
}

/** Which of the two it was is not part of the kept answer: the same answer is told as new once, then as a replay. */
export function registrationOf(
  answer: RegistrationAnswer,
  settlementStatus: SettlementStatus,
): Omit<AgentRegistration, 'requestHash'> {
  const idempotentReplay = settlementStatus === 'idempotent_replay';
  return {
    agentId: answer.agent_id,
    agentWallet: answer.agentWallet,
    session: answer.session,
    taskId: answer.task_id,
    validateScore: answer.validate_score,
    settlementStatus,
    idempotentReplay,
    replayOf: idempotentReplay ? answer.task_id : null,
  };
}
