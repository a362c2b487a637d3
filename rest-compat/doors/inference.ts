import { z } from 'zod';
import { type Json, type JsonObject, present } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { toCamelKeys } from '../../schema/requests/case.ts';
import { ChatRequest, IntentId } from '../../schema/requests/chat-completion.ts';
import { ChatAnswer, ChatChunk, ModelList } from '../answers/inference.ts';
import { RefusedCall } from '../answers/refusal.ts';
import { digits } from '../digits.ts';
import { operation } from '../document.ts';
import { type DoorPrice, documentDoor } from '../door.ts';

const callPrice: DoorPrice = {
  amount_atomic: limits.call_price_atomic,
  networks: ['base', 'solana'],
  paid_by: ['payment'],
};

/** The intent as headers name it; a body that names it too goes first. */
const IntentHeaders = z.object({
  'x-svc-intent': IntentId,
  'x-svc-attempt': digits(
    z
      .int()
      .min(0)
      .max(2 ** 31 - 1),
  ).optional(),
});

export const inferenceDoors = [
  documentDoor({
    name: 'chat_completions',
    methods: ['POST'],
    path: '/v1/chat/completions',
    summary: 'One chat completion with a signed spend receipt',
    tags: ['inference'],
    price: callPrice,
    document: operation('chat_completions'),
    stream: {
      asked: ({ stream }) => stream,
      document: operation('chat_completions_stream'),
      eventOf: (data, { stream_options }) => chunkOf(data.answer as GraphChunk, stream_options?.include_usage ?? false),
    },
    headers: IntentHeaders,
    body: ChatRequest,
    variables({ body, headers }) {
      const intent_id = body.intent_id ?? headers['x-svc-intent'];
      const attempt_index = body.attempt_index ?? headers['x-svc-attempt'] ?? null;
      return { input: toCamelKeys({ ...body, intent_id, attempt_index }) as JsonObject };
    },
    response: ChatAnswer,
    refusal: RefusedCall,
    event: ChatChunk,
    errors: ['unknown_model', 'policy_blocked', 'budget_exhausted', 'hub_failed'],
  }),
  documentDoor({
    name: 'list_models',
    methods: ['GET'],
    path: '/v1/models',
    summary: 'Model ids that a call may name',
    tags: ['inference'],
    document: operation('list_models'),
    answer: data => ({ object: 'list', data: data.models ?? [] }),
    response: ModelList,
  }),
] as const;

/** A chunk as the graph gives it, each member in place. */
type GraphChunk = JsonObject & {
  readonly choices: readonly (JsonObject & { readonly delta: JsonObject })[];
  readonly usage: Json;
  readonly svc: Json;
};

/** A chunk says what it adds and no more. Where usage is asked for every chunk has the member, and the last its value. */
function chunkOf({ choices, usage, svc, ...head }: GraphChunk, include_usage: boolean): Json {
  return {
    ...head,
    choices: choices.map(choice => ({ ...choice, delta: present(choice.delta) })),
    ...(include_usage ? { usage } : {}),
    ...(svc ? { svc } : {}),
  };
}
