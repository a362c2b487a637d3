import { z } from 'zod';
import { JsonMembers, nameComponents } from '../../answer-shapes.ts';
import { A2A_DOMAIN, BAD_REQUEST, ERROR_INFO, FACTS, isOnlyInRpc, OUR_DOMAIN } from './faults.ts';

/* JSON-RPC messages of /a2a-message. Params and results have the shapes of A2A (1.0 §4). */

const RpcId = z.union([z.string(), z.number()]).nullable();

export const A2aCall = z.object({
  jsonrpc: z.literal('2.0'),
  id: RpcId.optional().describe('Id of the call, repeated in its response. Left out for a notification.'),
  method: z.string().describe('Method of A2A 1.0, such as SendMessage, or of A2A 0.3, such as message/send.'),
  params: JsonMembers.optional().describe('Parameters of the method, as A2A defines them.'),
});

const RpcResult = z.object({
  jsonrpc: z.literal('2.0'),
  id: RpcId.describe('Id of the call.'),
  result: JsonMembers.describe('Result of the method: a task, a list of tasks, or an event of a task.'),
});

const ErrorInfo = z.object({
  '@type': z.literal(ERROR_INFO),
  reason: z.string().describe('Name of an A2A error, or the stable code of the error in capitals.'),
  domain: z.enum([A2A_DOMAIN, OUR_DOMAIN]).describe('Domain that defines `reason`.'),
  metadata: z
    .object({ http_status: z.string().describe('HTTP status of the same error at other endpoints.') })
    .optional()
    .describe('Further facts of the error.'),
});
const BadRequest = z.object({
  '@type': z.literal(BAD_REQUEST),
  fieldViolations: z
    .array(
      z.object({
        field: z.string().describe('Path of the member that is wrong.'),
        description: z.string().describe('What is wrong with it.'),
      }),
    )
    .describe('Members that are wrong.'),
});
const Facts = z.object({
  '@type': z.literal(FACTS),
  value: JsonMembers.describe('Body of the same error by REST: a problem, a payment offer, or a signed refusal.'),
});

export const RpcFailure = z.object({
  jsonrpc: z.literal('2.0'),
  id: RpcId.describe('Id of the call. Null if it could not be read.'),
  error: z
    .object({
      code: z.int().describe('Error code of JSON-RPC or A2A, or one of this service, from -32099 to -32040.'),
      message: z.string().describe('Sentence about the error.'),
      data: z.array(z.union([ErrorInfo, BadRequest, Facts])).describe('Details of the error.'),
    })
    .describe('The error.'),
  x402Version: z
    .literal(1)
    .optional()
    .describe('Version of the offer, for clients that read the body as x402 version 1. Only with status 402.'),
  accepts: z.array(JsonMembers).optional().describe('Payment requirements. Only with status 402.'),
});

/** Body of a JSON-RPC response with HTTP 200. */
export const RpcAnswer = z.union([RpcResult, RpcFailure]);

/** Errors of HTTP that occur before the body is known to be a call. */
const beforeItIsRead: ReadonlySet<number> = new Set([408, 413, 415, 431]);

export const isHttpError = (status: number): boolean => !isOnlyInRpc(status) && !beforeItIsRead.has(status);

nameComponents({ A2aCall, A2aResult: RpcResult, A2aFault: RpcFailure });
