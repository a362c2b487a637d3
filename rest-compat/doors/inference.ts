import { z } from 'zod';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { toCamelKeys } from '../../schema/requests/case.ts';
import { ChatRequest } from '../../schema/requests/chat-completion.ts';
import { ChatAnswer, ModelList } from '../answers/inference.ts';
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
  'x-svc-intent': ChatRequest.shape.intent_id,
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
    headers: IntentHeaders,
    body: ChatRequest,
    variables({ body, headers }) {
      const intent_id = body.intent_id ?? headers['x-svc-intent'];
      const attempt_index = body.attempt_index ?? headers['x-svc-attempt'] ?? null;
      return { input: toCamelKeys({ ...body, intent_id, attempt_index }) as JsonObject };
    },
    response: ChatAnswer,
    errors: ['unknown_model', 'hub_failed'],
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
