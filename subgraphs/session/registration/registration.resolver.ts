import { Arg, Ctx, Directive, FieldResolver, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import type { z } from 'zod';
import { Refusal } from '../../../schema/errors.ts';
import { limits } from '../../../schema/limits.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { RegistrationRequest } from '../../../schema/requests/registration.ts';
import { RegistrationNoun } from '../../../schema/session/registration.ts';
import { settlementStatuses } from '../../../schema/settlement-status.ts';
import { requireWriting } from '../../access.ts';
import type { Services } from '../../context.ts';
import { wordEnum } from '../../graph-enum.ts';
import { type Arguments, inputType, readRequest, showMembers } from '../../graph-type.ts';
import { requireNotHalted } from '../../receipt/log/while-halted.ts';
import type { SettlementStatus } from '../../selling.ts';
import { agentById, agentOfWallet } from '../agent/find.ts';
import type { SessionContext } from '../context.ts';
import { heldByProof, sealDecoy } from '../possession/check.ts';
import type { RegistrationAnswer } from './answer.ts';
import { registerByReceipt } from './by-receipt.ts';
import { checksumAddress } from './control.ts';
import { registrationPaid } from './registration.paid.ts';

const RegisterAgentInput = inputType(
  'RegisterAgentInput',
  'Agent to register. Without `taskId` the request pays the stamp. With it, that receipt registers the agent for free or recovers its registration.',
  RegistrationRequest,
);

const Registration = class {} as new () => Omit<MembersOf<typeof RegistrationNoun>, 'settlementStatus'>;

@ObjectType({ description: 'A registered agent and the secret that opens its book.' })
class AgentRegistration extends Registration {
  settlementStatus!: SettlementStatus;
}
// A key may have stood in for the payment: of that status the noun does not know.
showMembers(AgentRegistration, RegistrationNoun, { settlement_status: wordEnum(settlementStatuses) });

/** Which of the two it was is not part of the kept answer: the same answer is told as new once, then as a replay. */
function registrationOf(
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

@Resolver(() => AgentRegistration)
export class RegistrationResolver {
  @Directive(`@paid(price: "${limits.stamp_price_atomic}")`)
  @Mutation(() => AgentRegistration, { description: 'Registers the paying wallet as an agent with a book of its own.' })
  async registerAgent(
    @Arg('input', () => RegisterAgentInput, {
      description: 'The wallet to register, and the proof of control over it.',
    })
    input: Arguments,
    @Ctx() context: SessionContext,
  ): Promise<Omit<AgentRegistration, 'requestHash'>> {
    // Its proof is a member like any other, and no header's.
    const said: z.output<typeof RegistrationRequest> = readRequest(RegistrationRequest, input, context);
    const { proof, ...request } = said;
    // Beside a payment a demo key counts for nothing; what costs nothing it may not write.
    if (request.task_id !== null || context.payment === null) requireWriting(context.principal);
    await requireRightProof(request, proof ?? null, context);
    const { answer, settlement_status } =
      request.task_id === null
        ? await context.charge(registrationPaid(context), request, context)
        : await registerByReceipt(request, request.task_id, context);
    context.response.headers['x-svc-settlement-status'] = settlement_status;
    return registrationOf(answer, settlement_status);
  }

  /** It stands with the agent: answers that are kept from before do not have it. */
  @FieldResolver()
  async requestHash(@Root() { agentId }: AgentRegistration, @Ctx() { database }: SessionContext): Promise<string> {
    const agent = await agentById(database, agentId);
    if (agent === null) throw new Error(`agent ${agentId} is registered and not there`);
    return agent.requestHash;
  }
}

/**
 * A book proof is not asked for here: whoever shows one means the book that stands for the wallet, and is told where it
 * does not open that. Before anything is claimed or taken: the payment stays usable. @throws invalid_proof
 */
async function requireRightProof(
  { agentWallet }: Pick<RegistrationRequest, 'agentWallet'>,
  proof: string | null,
  services: Pick<Services, 'database' | 'vault' | 'clock' | 'random'>,
): Promise<void> {
  if (proof === null) return;
  requireNotHalted(services.database);
  const agent_id = await agentOfWallet(services.database, checksumAddress(agentWallet) ?? '');
  const shown = { agent_id: agent_id ?? 0, value: proof, nonce: null, request: null };
  const held = await heldByProof({ ...services, decoy: sealDecoy(services) }, shown);
  if (held === null) throw new Refusal('invalid_proof', { param: 'proof' });
}
