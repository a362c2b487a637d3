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

/** Response of the inbound endpoint: a completion with its signed receipt. */
export const CompletionAnswer = z.object({
  ...reported,
  receipt: ReceiptAnswer.describe(
    'Signed receipt of the completion as reported and, if the chain showed it, of the payment. It is on no book.',
  ),
  recorded_at,
});

nameComponents({ Completion: CompletionAnswer });

/** Completions elsewhere, reported by a client that has the inbound secret. */
export const inboundDoors = [
  documentDoor({
    name: 'record_completion',
    effect: 'adds',
    tool: { none: 'needs_secret' },
    methods: ['POST'],
    path: '/v1/board/inbound/completions',
    limits: [`Up to ${reactionLimits.completions_per_hour_max} new completions are recorded an hour.`],
    summary: 'Record a completion from elsewhere, once per source and id, with a signed receipt',
    tags: ['board'],
    board_secret: 'inbound',
    status: 201,
    again: { status: 200, is: ({ answer }) => isJsonObject(answer) && answer.idempotent_replay === true },
    field: 'recordCompletion',
    shows: CompletionAnswer.extend({ receipt: z.object({ document: ReceiptAnswer }), idempotent_replay: z.boolean() }),
    body: CompletionRequest,
    variables: ({ body: { transaction, ...body } }) => ({
      input: toCamelKeys({ ...body, payment_tx: transaction }) as { readonly [name: string]: Json },
    }),
    answer: ({ answer }) => withReceipt(answer),
    response: CompletionAnswer,
    errors: ['completion_conflict', 'duplicate_ref', 'network_not_served', 'chain_unavailable'],
  }),
] as const;

/** The receipt becomes a member. Only the HTTP status distinguishes a repeated report from a new one, so both have the same body. */
function withReceipt(answer: Json | undefined): Json {
  if (!isJsonObject(answer)) return null;
  const { receipt, idempotent_replay: _again, ...body } = answer;
  return { ...body, receipt: isJsonObject(receipt) ? (receipt.document ?? null) : null };
}
