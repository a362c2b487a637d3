import { z } from 'zod';
import { isJsonObject } from '../../schema/canonical-json.ts';
import { operation } from '../document.ts';
import { documentDoor } from '../door.ts';
import { SignedRefusal } from './refusal-answers.ts';

export const refusalDoors = [
  documentDoor({
    name: 'get_refusal',
    methods: ['GET'],
    path: '/refusal/{refusal_id}',
    summary: "A signed refusal of a book's policy, to be verified offline",
    tags: ['receipts'],
    document: operation('receipt/get_refusal'),
    params: z.object({ refusal_id: z.string().max(64) }),
    query: z.object({ format: z.enum(['json']).optional() }),
    variables: ({ params }) => ({ refusalId: params.refusal_id }),
    answer: ({ refusal }) => (isJsonObject(refusal) ? (refusal.document ?? null) : null),
    response: SignedRefusal,
    errors: ['not_found', 'record_damaged'],
  }),
] as const;
