import { Arg, Args, Ctx, Directive, Mutation, Resolver } from 'type-graphql';
import {
  IngestedFulfillmentNoun,
  IngestedPaymentNoun,
  IngestedRouteNoun,
  IngestedSpendNoun,
  RecordedSignatureNoun,
  SpendOnGraph,
} from '../../../schema/ingest.ts';
import { limits } from '../../../schema/limits.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { IngestRequest } from '../../../schema/requests/ingest.ts';
import {
  ForeignCommitment,
  ForeignInvoice,
  ForeignOffer,
  NanoSend,
  StatedCommitment,
} from '../../../schema/requests/ingest-members.ts';
import { requireHeld } from '../../access.ts';
import '../../fulfillment.type.ts';
import {
  type Arguments,
  type ArgumentsOfBook,
  argumentsType,
  inputType,
  objectType,
  readRequest,
  shownOf,
} from '../../graph-type.ts';
import type { BookContext } from '../context.ts';
import type { RecordedIngest } from './answer.ts';
import { ingestPaid } from './ingest.paid.ts';

inputType('NanoSendInput', 'A confirmed (cemented) send block of XNO.', NanoSend);
inputType(
  'PaymentRequiredInput',
  'What another x402 service required for the payment, as its 402 response stated it.',
  ForeignOffer,
);
inputType(
  'OutputCommitmentInput',
  'Commitment to what was delivered, or the reason why there is none.',
  ForeignCommitment,
  StatedCommitment,
);
inputType('ForeignInvoiceInput', 'Invoice of the party that was paid, as the payer received it.', ForeignInvoice);
const ForeignSpendInput = inputType(
  'ForeignSpendInput',
  'A payment to somebody else, in one of three forms: a send block of XNO (`nano`), payment requirements with the response to their settlement (`paymentRequired`, `paymentResponse`), or an invoice (`foreignInvoice`).',
  IngestRequest,
);

objectType('IngestedPayment', 'A payment to somebody else, as observed on its chain.', IngestedPaymentNoun);
objectType('IngestedRoute', 'What was bought and who sold it, as the payer states it.', IngestedRouteNoun);
objectType(
  'RecordedSignature',
  'Signature of this service, which attests that it has recorded the payment. It attests to nothing on behalf of the party that was paid.',
  RecordedSignatureNoun,
);

objectType(
  'IngestedFulfillment',
  'What was delivered for a payment to somebody else, in the same form as for a paid job.',
  IngestedFulfillmentNoun,
);

const IngestedSpend = objectType(
  'IngestedSpend',
  'A payment to somebody else that is recorded on a book.',
  IngestedSpendNoun,
  SpendOnGraph,
);
type IngestedSpend = InstanceType<typeof IngestedSpend>;

const BookArguments = argumentsType(BookPath);

@Resolver(() => IngestedSpend)
export class IngestResolver {
  @Directive(`@paid(price: "${limits.stamp_price_atomic}")`)
  @Mutation(() => IngestedSpend, {
    nullable: true,
    description:
      'Records a payment to somebody else on a book, if the chain shows the payment. Requires possession of the book. Null if there is an error.',
  })
  async ingestForeignSpend(
    @Arg('input', () => ForeignSpendInput, { description: 'The payment, and what it bought.' }) input: Arguments,
    @Args(() => BookArguments) { agentId }: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<IngestedSpend> {
    const held = requireHeld(context.principal, agentId);
    const request = readRequest(IngestRequest, input, context);
    // A request may have several sessions, so the path names the book.
    const principal = { ...context.principal, possession: { kind: 'proven' as const, ...held } };
    const args = { agent_id: held.agent_id, ...request };
    const { answer, settlement_status } = await context.charge(ingestPaid(context), args, { ...context, principal });
    context.response.headers['x-svc-settlement-status'] = settlement_status;
    return shown(answer);
  }
}

function shown(answer: RecordedIngest): IngestedSpend {
  return { ...shownOf(IngestedSpendNoun, answer), receipt: { taskId: answer.task_id } };
}
