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
  SaidCommitment,
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

/* How the graph takes a payment to somebody else, and answers it. */

inputType('NanoSendInput', 'A cemented send of XNO.', NanoSend);
inputType('PaymentRequiredInput', 'What another x402 service required as payment.', ForeignOffer);
inputType(
  'OutputCommitmentInput',
  'A commitment to what was delivered, or why there is none.',
  ForeignCommitment,
  SaidCommitment,
);
inputType('ForeignInvoiceInput', 'An invoice of the party that was paid, as the payer has it.', ForeignInvoice);
const ForeignSpendInput = inputType(
  'ForeignSpendInput',
  'One payment to somebody else, in one of three forms: a block, an offer with its settlement, an invoice.',
  IngestRequest,
);

objectType('IngestedPayment', 'A payment to somebody else, as it was observed on its chain.', IngestedPaymentNoun);
objectType('IngestedRoute', 'What was bought, and of whom, as the payer says it.', IngestedRouteNoun);
objectType(
  'RecordedSignature',
  'Signature of this service: it has recorded the payment. It attests to nothing on behalf of the party that was paid.',
  RecordedSignatureNoun,
);

objectType(
  'IngestedFulfillment',
  'What was delivered for a payment to somebody else, in the form of a paid job.',
  IngestedFulfillmentNoun,
);

const IngestedSpend = objectType(
  'IngestedSpend',
  'A payment to somebody else that stands on a book now.',
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
  return { ...shownOf(IngestedSpendNoun, answer), receipt: { taskId: answer.task_id } };
}
