import { z } from 'zod';
import { CompletionNoun } from '../../schema/board/completion.ts';
import { toCamelKeys } from '../../schema/camel.ts';
import { isJsonObject, type Json } from '../../schema/canonical-json.ts';
import { reactionLimits } from '../../schema/limits.ts';
import { CompletionRequest } from '../../schema/requests/completion.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { ReceiptAnswer } from '../receipt/signed-receipt.ts';

const { recorded_at, ...reported } = CompletionNoun.shape;

/** What the inbound endpoint answers: a completion with its receipt as it is signed. */
export const CompletionAnswer = z.object({
  ...reported,
  receipt: ReceiptAnswer.describe(
    'Signed receipt of the completion as reported and, if the chain showed it, of the payment. It is on no book.',
  ),
  recorded_at,
});

nameComponents({ Completion: CompletionAnswer });

/** What was completed and paid for elsewhere, told by whoever shares the inbound secret. */
export const inboundDoors = [
  documentDoor({
    name: 'record_completion',
    effect: 'adds',
    tool: { none: 'needs_secret' },
    methods: ['POST'],
    path: '/v1/board/inbound/completions',
    limits: [`Up to ${reactionLimits.completions_per_hour_max} new completions are recorded an hour.`],
    summary: 'Records what was completed elsewhere, once for its source and id, with a signed receipt',
    tags: ['board'],
    board_secret: 'inbound',
    status: 201,
    again: { status: 200, is: ({ answer }) => isJsonObject(answer) && answer.idempotent_replay === true },
    field: 'recordCompletion',
    shows: CompletionAnswer.extend({ receipt: z.object({ document: ReceiptAnswer }), idempotent_replay: z.boolean() }),
    body: CompletionRequest,
    variables: ({ body: { transaction, ...said } }) => ({
      input: toCamelKeys({ ...said, payment_tx: transaction }) as { readonly [name: string]: Json },
    }),
    answer: ({ answer }) => withReceipt(answer),
    response: CompletionAnswer,
    errors: ['completion_conflict', 'duplicate_ref', 'network_not_served', 'chain_unavailable'],
  }),
] as const;

/** The receipt stands in the answer itself; that the same was told before is the status's to say, so that both are one answer. */
function withReceipt(answer: Json | undefined): Json {
  if (!isJsonObject(answer)) return null;
  const { receipt, idempotent_replay: _again, ...said } = answer;
  return { ...said, receipt: isJsonObject(receipt) ? (receipt.document ?? null) : null };
}
