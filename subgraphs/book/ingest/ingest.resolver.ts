import { Arg, Ctx, Directive, Int, Mutation, Resolver } from 'type-graphql';
import { toCamelKeys } from '../../../schema/camel.ts';
import { limits } from '../../../schema/limits.ts';
import { IngestRequest } from '../../../schema/requests/ingest.ts';
import { requestOf } from '../../../schema/requests/parse.ts';
import { requireHeld } from '../../access.ts';
import type { BookContext } from '../context.ts';
import type { RecordedIngest } from './answer.ts';
import { ingestPaid } from './ingest.paid.ts';
import { ForeignSpendInput, IngestedSpend } from './ingest.type.ts';

@Resolver(() => IngestedSpend)
export class IngestResolver {
  @Directive(`@paid(price: "${limits.stamp_price_atomic}")`)
  @Mutation(() => IngestedSpend, {
    nullable: true,
    description:
      'Records a payment to somebody else on a book, once its chain shows it. For whoever possesses the book.',
  })
  async ingestForeignSpend(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('input', () => ForeignSpendInput, { description: 'Which payment, and what it bought.' })
    input: ForeignSpendInput,
    @Ctx() context: BookContext,
  ): Promise<IngestedSpend> {
    const held = requireHeld(context.principal, agentId);
    const request = requestOf(IngestRequest, withDigits(input), context.valid_body, [
      'paymentResponse',
      'offerReceipt',
    ]);
    // Of several books that are held the path names the one that it is for.
    const principal = { ...context.principal, possession: { kind: 'proven' as const, ...held } };
    const args = { agent_id: held.agent_id, ...request };
    const { answer, settlement_status } = await context.charge(ingestPaid(context), args, { ...context, principal });
    context.response.headers['x-svc-settlement-status'] = settlement_status;
    return shown(answer);
  }
}

/** Amounts are texts on the wire, and numbers on the graph. */
function withDigits(input: ForeignSpendInput): object {
  const digits = (form: { amount: bigint } | null | undefined) => form && { ...form, amount: String(form.amount) };
  const { nano, paymentRequired, foreignInvoice, fulfillmentInvoice } = input;
  return {
    ...input,
    nano: digits(nano),
    paymentRequired: digits(paymentRequired),
    foreignInvoice: digits(foreignInvoice),
    fulfillmentInvoice: digits(fulfillmentInvoice),
  };
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
