import { Arg, Args, Ctx, Directive, Mutation, Resolver } from 'type-graphql';
import { toCamelKeys } from '../../../schema/camel.ts';
import { limits } from '../../../schema/limits.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { IngestRequest } from '../../../schema/requests/ingest.ts';
import { requireHeld } from '../../access.ts';
import { type Arguments, type ArgumentsOfBook, argumentsType, readRequest } from '../../graph-type.ts';
import type { BookContext } from '../context.ts';
import type { RecordedIngest } from './answer.ts';
import { ingestPaid } from './ingest.paid.ts';
import { ForeignSpendInput, IngestedSpend } from './ingest.type.ts';

const BookArguments = argumentsType(BookPath);

@Resolver(() => IngestedSpend)
export class IngestResolver {
  @Directive(`@paid(price: "${limits.stamp_price_atomic}")`)
  @Mutation(() => IngestedSpend, {
    nullable: true,
    description:
      'Records a payment to somebody else on a book, once its chain shows it. For whoever possesses the book.',
  })
  async ingestForeignSpend(
    @Arg('input', () => ForeignSpendInput, { description: 'Which payment, and what it bought.' }) input: Arguments,
    @Args(() => BookArguments) { agentId }: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<IngestedSpend> {
    const held = requireHeld(context.principal, agentId);
    const request = readRequest(IngestRequest, input, context);
    // Of several books that are held the path names the one that it is for.
    const principal = { ...context.principal, possession: { kind: 'proven' as const, ...held } };
    const args = { agent_id: held.agent_id, ...request };
    const { answer, settlement_status } = await context.charge(ingestPaid(context), args, { ...context, principal });
    context.response.headers['x-svc-settlement-status'] = settlement_status;
    return shown(answer);
  }
}

function shown(answer: RecordedIngest): IngestedSpend {
  const { payment, recorded_at, task_id } = answer;
  return {
    ...(toCamelKeys(answer) as IngestedSpend),
    payment: { ...payment, amount: BigInt(payment.amount) as IngestedSpend['payment']['amount'] },
    recordedAt: new Date(recorded_at),
    receipt: { taskId: task_id },
  };
}
