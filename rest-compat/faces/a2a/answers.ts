import { z } from 'zod';
import { JsonMembers, nameComponents } from '../../answer-shapes.ts';

const RpcId = z.union([z.string(), z.number()]).nullable();

/** What a call by JSON-RPC hears: the one or the other. Their shapes are the protocol's (A2A 1.0 §4). */
export const RpcAnswer = z.object({
  jsonrpc: z.literal('2.0'),
  id: RpcId,
  result: JsonMembers.optional().describe('Of the method that was called.'),
  error: z
    .object({ code: z.int(), message: z.string(), data: z.array(JsonMembers) })
    .optional()
    .describe('With a code of JSON-RPC or A2A, or one of the service’s own; `data` names it by its stable code.'),
});

nameComponents({ A2aAnswer: RpcAnswer });
