import { z } from 'zod';
import { JsonMembers, nameComponents } from '../../answer-shapes.ts';
import { A2A_DOMAIN, BAD_REQUEST, ERROR_INFO, FACTS, isToldInside, OUR_DOMAIN } from './faults.ts';

/* What goes over the wire at the door of chats where it is called by JSON-RPC. The shapes of params and results are A2A's own (1.0 §4). */

const RpcId = z.union([z.string(), z.number()]).nullable();

export const A2aCall = z.object({
  jsonrpc: z.literal('2.0'),
  id: RpcId.optional(),
  method: z.string().describe('Of A2A 1.0, such as SendMessage, or of 0.3, such as message/send.'),
  params: JsonMembers.optional(),
});

const RpcResult = z.object({
  jsonrpc: z.literal('2.0'),
  id: RpcId,
  result: JsonMembers.describe('Of the method that was called: a task, a list of them, or an event of one.'),
});

const ErrorInfo = z.object({
  '@type': z.literal(ERROR_INFO),
  reason: z.string().describe('The name of an error of A2A, or else the stable code of the refusal in capitals.'),
  domain: z.enum([A2A_DOMAIN, OUR_DOMAIN]),
  metadata: z
    .object({ http_status: z.string() })
    .optional()
    .describe('The HTTP status that the same error has at every other endpoint.'),
});
const BadRequest = z.object({
  '@type': z.literal(BAD_REQUEST),
  fieldViolations: z.array(z.object({ field: z.string(), description: z.string() })),
});
const Facts = z.object({
  '@type': z.literal(FACTS),
  value: JsonMembers.describe(
    'The body of the same refusal by REST: a problem, what is to be paid, or a signed refusal.',
  ),
});

export const RpcFailure = z.object({
  jsonrpc: z.literal('2.0'),
  id: RpcId.describe('Null where the call named none that could be read.'),
  error: z.object({
    code: z.int().describe('Of JSON-RPC or A2A, or from -32099 to -32040 one of the service’s own.'),
    message: z.string(),
    data: z.array(z.union([ErrorInfo, BadRequest, Facts])),
  }),
  x402Version: z
    .literal(1)
    .optional()
    .describe('Of a 402, for clients that read its body as that of x402’s first version.'),
  accepts: z.array(JsonMembers).optional().describe('What is asked for, of a 402.'),
});

/** What a call by JSON-RPC hears with HTTP 200: the one or the other. */
export const RpcAnswer = z.union([RpcResult, RpcFailure]);

/** Of the transport, before a body is known to be a call. */
const beforeItIsRead: ReadonlySet<number> = new Set([408, 413, 415, 431]);

export const isHeardByHttp = (status: number): boolean => !isToldInside(status) && !beforeItIsRead.has(status);

nameComponents({ A2aCall, A2aResult: RpcResult, A2aFault: RpcFailure });
