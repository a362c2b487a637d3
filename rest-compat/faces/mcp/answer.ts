import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { DoorOutcome } from '../../call.ts';
import type { Answer } from '../../problem.ts';
import { type Protocol, protocolOf } from './generation.ts';
import { faultText, messageIn, type RequestId, type RpcFault, type RpcRequest, resultText } from './json-rpc.ts';
import { type McpCall, type MethodOutcome, methods } from './methods.ts';
import { progressEvents, progressHeaders, progressTokenOf } from './progress.ts';
import type { ListingRequest } from './tool-sets.ts';

/** Context of a message. */
export type MessageContext = Pick<McpCall, 'caller' | 'layer' | 'onFault' | 'onWork'> & {
  readonly listing: ListingRequest;
};

/** Answers one message of either generation. */
export async function answerMessage(value: JsonObject, received: MessageContext): Promise<DoorOutcome> {
  const message = messageIn(value);
  if (message.kind === 'malformed') return fault(400, null, { code: 'invalid_request', message: message.why });
  if (message.kind === 'notification') return sessionFault(received, null) ?? { status: 202, headers: {}, body: null };
  const determined = protocolOf(message, received.caller.headers);
  if (determined.kind === 'refused') return fault(400, message.id, determined);
  const { protocol } = determined;
  const ended =
    protocol.generation === 'legacy' && message.method !== 'initialize' ? sessionFault(received, message.id) : null;
  return ended ?? answerRequest(message, protocol, received);
}

async function answerRequest(request: RpcRequest, protocol: Protocol, received: MessageContext): Promise<DoorOutcome> {
  const { caller, layer, onFault, listing } = received;
  const outcome: MethodOutcome =
    // An unknown listing is refused at the first request and before any payment, because the client would not find the tools that it means
    // to list.
    listing.kind === 'unknown'
      ? { kind: 'fault', code: 'invalid_params', message: listing.message }
      : (methods[protocol.generation].get(request.method)?.({ request, protocol, caller, layer, listing, onFault }) ??
        unknownMethod(request));
  // A tool call is counted by its endpoint.
  const turn = outcome.kind === 'work' ? null : layer.port.rates.take('free', caller.address);
  if (turn?.kind === 'beyond') return rateFault(request.id, turn);
  if (outcome.kind === 'work') return answerWork(request, outcome, received);
  if (outcome.kind === 'fault') return fault(statusOf(outcome, protocol), request.id, outcome);
  if (outcome.kind === 'listing') return json(resultText(request.id, outcome.list()));
  const onWork: Answer['headers'] =
    outcome.kind === 'begun' ? { 'mcp-session-id': layer.port.tool_sessions.begin() } : {};
  return json(resultText(request.id, outcome.result), onWork);
}

function unknownMethod({ method }: RpcRequest): MethodOutcome {
  return { kind: 'fault', code: 'method_not_found', message: `Unknown method: ${method.slice(0, 128)}` };
}

/** The modern generation also has a status for an unknown method ("Protocol Version Header"). */
function statusOf({ code }: RpcFault, { generation }: Protocol): number {
  return generation === 'modern' && code === 'method_not_found' ? 404 : 200;
}

async function answerWork(
  request: RpcRequest,
  { run }: Extract<MethodOutcome, { kind: 'work' }>,
  { caller, onWork }: MessageContext,
): Promise<DoorOutcome> {
  const token = progressTokenOf(request, caller.headers.accept);
  const work = run();
  onWork?.(work);
  if (token === null) return json(await work);
  return { status: 200, headers: progressHeaders, body: progressEvents(token, work) };
}

/** 404 for an invalid or expired session, so that its client starts a new one (2025-11-25, "Session Management"). */
function sessionFault({ caller, layer }: MessageContext, id: RequestId | null): Answer | null {
  const shown = caller.headers['mcp-session-id'];
  if (shown === undefined || 'mcp-method' in caller.headers || layer.port.tool_sessions.isValid(String(shown)))
    return null;
  return fault(404, id, {
    code: 'refused',
    message: 'Session not found. Send initialize to start a new one, or send no Mcp-Session-Id.',
  });
}

type ExceededTurn = Extract<ReturnType<McpCall['layer']['port']['rates']['take']>, { kind: 'beyond' }>;

function rateFault(id: RequestId, { headers, retry_after_seconds }: ExceededTurn): Answer {
  const retry = { ...headers, 'retry-after': String(retry_after_seconds) };
  const data = { retry_after_seconds };
  return fault(429, id, { code: 'refused', message: 'Too many requests.', data }, retry);
}

/** An error before a tool is called, in JSON-RPC and as an HTTP status. */
export function fault(status: number, id: RequestId | null, it: RpcFault, headers: Answer['headers'] = {}): Answer {
  return { ...json(faultText(id, it), headers), status };
}

function json(body: string | Buffer, headers: Answer['headers'] = {}): Answer {
  return {
    status: 200,
    headers: { ...headers, 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    body,
  };
}
