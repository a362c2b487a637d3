import { z } from 'zod';
import { JsonMembers, nameComponents } from '../../answer-shapes.ts';
import { A2A_DOMAIN, BAD_REQUEST, ERROR_INFO, FACTS, isOnlyInRpc, OUR_DOMAIN } from './faults.ts';

/* JSON-RPC messages of /a2a-message. Params and results have the shapes of A2A (1.0 §4). */

const RpcId = z.union([z.string(), z.number()]).nullable();

export const A2aCall = z.object({
  jsonrpc: z.literal('2.0'),
  id: RpcId.optional().describe('Id of the call, chosen by the client and repeated in the response. Default: null.'),
  method: z
    .string()
    .describe('Method to call: one of A2A 1.0, such as `SendMessage`, or of A2A 0.3, such as `message/send`.'),
  params: JsonMembers.optional().describe('Parameters of the method, as A2A defines them. Default: `{}`.'),
});

const RpcResult = z.object({
  jsonrpc: z.literal('2.0'),
  id: RpcId.describe('Id of the call, as the client sent it. Null if the call has none.'),
  result: JsonMembers.describe('Result of the method: a task, a list of tasks, or an event of a task.'),
});

const ErrorInfo = z.object({
  '@type': z.literal(ERROR_INFO),
  reason: z
    .string()
    .describe('Error that A2A defines, such as `TASK_NOT_FOUND`, or error code of this service in capitals.'),
  domain: z
    .enum([A2A_DOMAIN, OUR_DOMAIN])
    .describe('Domain that defines `reason`: `a2a-protocol.org` for A2A, `svc402` for this service.'),
  metadata: z
    .object({ http_status: z.string().describe('HTTP status of the same error at other endpoints, as digits.') })
    .optional()
    .describe('Further facts of the error. Absent if the call breaks a rule of A2A itself.'),
});
const BadRequest = z.object({
  '@type': z.literal(BAD_REQUEST),
  fieldViolations: z
    .array(
      z.object({
        field: z.string().describe('Path of the wrong member, such as `message.parts`.'),
        description: z.string().describe('What is wrong with the member, in a sentence.'),
      }),
    )
    .describe('Members of the request that are wrong.'),
});
const Facts = z.object({
  '@type': z.literal(FACTS),
  value: JsonMembers.describe(
    'Body that a REST endpoint returns for the same error: a problem, a payment offer or a signed refusal.',
  ),
});

export const RpcFailure = z.object({
  jsonrpc: z.literal('2.0'),
  id: RpcId.describe('Id of the call, as the client sent it. Null if the call has none, or if it could not be read.'),
  error: z
    .object({
      code: z.int().describe('Error code: of JSON-RPC, of A2A, or from -32099 to -32040 for errors of this service.'),
      message: z.string().describe('What went wrong, in a sentence.'),
      data: z
        .array(z.union([ErrorInfo, BadRequest, Facts]))
        .describe('Details of the error, each an object of the kind that `@type` names.'),
    })
    .describe('The error: its code, a sentence and details (JSON-RPC 2.0).'),
  x402Version: z.literal(1).optional().describe('x402 version of `accepts`. Only if the HTTP status is 402.'),
  accepts: z
    .array(JsonMembers)
    .optional()
    .describe('Payment requirements (x402), one for each network. Only if the HTTP status is 402.'),
});

/** Body of a JSON-RPC response with HTTP 200. */
export const RpcAnswer = z.union([RpcResult, RpcFailure]);

/** Errors of HTTP that occur before the body is known to be a call. */
const beforeItIsRead: ReadonlySet<number> = new Set([408, 413, 415, 431]);

export const isHttpError = (status: number): boolean => !isOnlyInRpc(status) && !beforeItIsRead.has(status);

nameComponents({ A2aCall, A2aResult: RpcResult, A2aFault: RpcFailure });
