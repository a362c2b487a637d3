import { Arg, Ctx, Directive, FieldResolver, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import type { z } from 'zod';
import { Refusal } from '../../../schema/errors.ts';
import { limits } from '../../../schema/limits.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { RegistrationRequest } from '../../../schema/requests/registration.ts';
import { RegistrationNoun } from '../../../schema/session/registration.ts';
import { settlementStatuses } from '../../../schema/settlement-status.ts';
import { requireWriting } from '../../access.ts';
import type { SettlementStatus } from '../../charge-port.ts';
import type { Services } from '../../context.ts';
import { wordEnum } from '../../graph-enum.ts';
import { type Arguments, inputType, readRequest, showMembers } from '../../graph-type.ts';
import { requireNotHalted } from '../../receipt/log/halt-guard.ts';
import { agentById, agentOfWallet } from '../agent/find.ts';
import type { SessionContext } from '../context.ts';
import { bookOfProof, sealDecoy } from '../possession/check.ts';
import type { RegistrationAnswer } from './answer.ts';
import { registerByReceipt } from './by-receipt.ts';
import { checksumAddress } from './control.ts';
import { registrationPaid } from './registration.paid.ts';

const RegisterAgentInput = inputType(
  'RegisterAgentInput',
  'Agent to register. Without `taskId` the request pays the registration fee (stamp). With it, that receipt registers the agent for free or recovers its registration.',
  RegistrationRequest,
);

const Registration = class {} as new () => Omit<MembersOf<typeof RegistrationNoun>, 'settlementStatus'>;

@ObjectType({ description: 'A registered agent and the secret that opens its book.' })
class AgentRegistration extends Registration {
  settlementStatus!: SettlementStatus;
}
// A call with an API key can have a settlement status that the noun does not list.
showMembers(AgentRegistration, RegistrationNoun, { settlement_status: wordEnum(settlementStatuses) });

/** Adds the status, which is not part of the stored response: the same response is new the first time and a replay afterwards. */
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
  @Mutation(() => AgentRegistration, {
    description:
      'Registers the paying wallet or, with `taskId`, the wallet that paid for that receipt, as an agent with a book of its own. Requires a signature of the wallet.',
  })
  async registerAgent(
    @Arg('input', () => RegisterAgentInput, {
      description: 'The wallet to register, and the proof of control over it.',
    })
    input: Arguments,
    @Ctx() context: SessionContext,
  ): Promise<Omit<AgentRegistration, 'requestHash'>> {
    // Here the proof is a member of the request, not a header.
    const said: z.output<typeof RegistrationRequest> = readRequest(RegistrationRequest, input, context);
    const { proof, ...request } = said;
    // A demo key that is sent with a payment is ignored. It cannot be used for a request that is free.
    if (request.task_id !== null || context.payment === null) requireWriting(context.principal);
    await requireRightProof(request, proof ?? null, context);
    const { answer, settlement_status } =
      request.task_id === null
        ? await context.charge(registrationPaid(context), request, context)
        : await registerByReceipt(request, request.task_id, context);
    context.response.headers['x-svc-settlement-status'] = settlement_status;
    return registrationOf(answer, settlement_status);
  }

  /** Read from the agent, because older stored responses do not contain the request hash. */
  @FieldResolver()
  async requestHash(@Root() { agentId }: AgentRegistration, @Ctx() { database }: SessionContext): Promise<string> {
    const agent = await agentById(database, agentId);
    if (agent === null) throw new Error(`agent ${agentId} is registered and not there`);
    return agent.requestHash;
  }
}

/**
 * Checks the proof, which is optional here: if it was sent, it must open the book of the wallet. This is done before anything is
 * claimed, so that the payment can still be used. @throws invalid_proof
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
  const held = await bookOfProof({ ...services, decoy: sealDecoy(services) }, shown);
  if (held === null) throw new Refusal('invalid_proof', { param: 'proof' });
}
