import { GraphQLSafeInt } from 'graphql-scalars';
import { Field, InputType, ObjectType } from 'type-graphql';
import type { MembersOf } from '../../../schema/noun.ts';
import { RegistrationNoun } from '../../../schema/session/registration.ts';
import { showMembers } from '../../graph-type.ts';
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

const Registration = class {} as new () => Omit<MembersOf<typeof RegistrationNoun>, 'settlementStatus'>;

@ObjectType({ description: 'A registered agent and the secret that opens its book.' })
export class AgentRegistration extends Registration {
  settlementStatus!: SettlementStatus;
}

showMembers(AgentRegistration, RegistrationNoun, { settlement_status: SettlementStatusWord });

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
