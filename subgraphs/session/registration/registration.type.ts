import { ObjectType } from 'type-graphql';
import type { MembersOf } from '../../../schema/noun.ts';
import { RegistrationRequest } from '../../../schema/requests/registration.ts';
import { RegistrationNoun } from '../../../schema/session/registration.ts';
import { inputType, showMembers } from '../../graph-type.ts';
import type { SettlementStatus } from '../../selling.ts';
import type { RegistrationAnswer } from './answer.ts';

export const RegisterAgentInput = inputType(
  'RegisterAgentInput',
  'Without taskId: pay the stamp. With it: register by that receipt, or recover its registration.',
  RegistrationRequest,
);

const Registration = class {} as new () => Omit<MembersOf<typeof RegistrationNoun>, 'settlementStatus'>;

@ObjectType({ description: 'A registered agent and the secret that opens its book.' })
export class AgentRegistration extends Registration {
  settlementStatus!: SettlementStatus;
}
showMembers(AgentRegistration, RegistrationNoun);

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
