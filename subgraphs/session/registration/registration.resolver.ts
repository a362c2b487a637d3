import { Arg, Ctx, Directive, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import { limits } from '../../../schema/limits.ts';
import { requestOf } from '../../../schema/requests/parse.ts';
import { RegistrationRequest } from '../../../schema/requests/registration.ts';
import { requireWriting } from '../../access.ts';
import { agentById } from '../agent/find.ts';
import type { SessionContext } from '../context.ts';
import { registerByReceipt } from './by-receipt.ts';
import { registrationPaid } from './registration.paid.ts';
import { AgentRegistration, RegisterAgentInput, registrationOf } from './registration.type.ts';
import { requireRightProof } from './require-right-proof.ts';

@Resolver(() => AgentRegistration)
export class RegistrationResolver {
  @Directive(`@paid(price: "${limits.stamp_price_atomic}")`)
  @Mutation(() => AgentRegistration, { description: 'Registers the paying wallet as an agent with a book of its own.' })
  async registerAgent(
    @Arg('input', () => RegisterAgentInput, { description: 'Who registers, and by what.' }) input: RegisterAgentInput,
    @Ctx() context: SessionContext,
  ): Promise<Omit<AgentRegistration, 'requestHash'>> {
    const { proof, ...request } = requestOf(RegistrationRequest, input, context.valid_body);
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
