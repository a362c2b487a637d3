import type { JsonObject } from '../../../schema/canonical-json.ts';
import { callDoor, type DoorOutcome } from '../../call.ts';
import { paymentIn } from '../../credentials.ts';
import type { Door, FaceAtDoor, RestLayer } from '../../door.ts';
import type { Body, DoorRequest } from '../../door-request.ts';
import { priceOf, resourceOf } from '../../offer.ts';
import type { Answer } from '../../problem.ts';
import { withinRate } from '../../request-checks.ts';
import { answerHeaders } from '../openapi-headers.ts';
import { A2aCall, isHttpError, RpcFailure } from './answers.ts';
import { activeExtension } from './extension.ts';
import { A2aFault } from './faults.ts';
import { followTask } from './follow.ts';
import { idOf, isRpc, readRpc, rpcFailure } from './json-rpc.ts';
import { type MethodCall, refuseCall } from './method-call.ts';
import { isA2aRequest, methodOf } from './methods.ts';
import { sendMessage, streamMessage } from './send.ts';
import { answerCancelTask, answerGetTask, answerListTasks } from './tasks.ts';

type Method = ReturnType<typeof methodOf>['method'];

const answers: Readonly<Record<Method, (method_call: MethodCall) => Promise<DoorOutcome>>> = {
  send: sendMessage,
  stream: streamMessage,
  get: limitRate(answerGetTask),
  list: limitRate(answerListTasks),
  cancel: limitRate(answerCancelTask),
  subscribe: limitRate(followTask),
  async push() {
    throw new A2aFault(
      'push_notification_not_supported',
      'Use SubscribeToTask to follow a task, or GetTask to read it.',
    );
  },
  async extended_card() {
    throw new A2aFault('unsupported_operation', 'This agent has no extended card, only the public one.');
  },
};

async function serveA2a(door: Door, request: DoorRequest, layer: RestLayer): Promise<DoorOutcome> {
  if (door.kind !== 'document' || request.body === null) return callDoor(door, request, layer);
  const { port } = layer;
  const { body } = request;
  const release =
    port.rates.hold(request.address, body.expectedBytes(door.body_bytes_max)) ??
    ((await isProven(door, request, layer)) ? () => {} : null);
  if (release === null) return callDoor(door, request, layer);
  let read: Body;
  try {
    read = await body.read(door, noFile);
  } finally {
    release();
  }
  if (read.kind === 'json' && isRpc(read.value)) return answerCall({ door, request, layer }, read.value);
  if (read.kind === 'refused' && read.code === 'invalid_request' && isA2aRequest(request))
    return answerA2aFault(request, layer, null, new A2aFault('parse_error', read.detail));
  return callDoor(door, { ...request, body: { expectedBytes: () => 0, read: async () => read } }, layer);
}

/**
 * An endpoint that also accepts JSON-RPC: a body that is a call is answered as one. Any other body goes to the endpoint unchanged, and so
 * does a request that exceeds the body limit of its address, so that it gets the price first. A proven payment is exempt from that limit,
 * as in request-checks.ts.
 */
export const a2aFace: FaceAtDoor = {
  serve: serveA2a,
  call: A2aCall,
  fault: RpcFailure,
  headers: answerHeaders.a2a,
  hasHttpStatus: isHttpError,
};

async function isProven(door: Door, request: DoorRequest, { port }: RestLayer): Promise<boolean> {
  const payment = await port.judge(paymentIn(request.headers), priceOf(door, resourceOf(door, request, port)));
  return payment.kind === 'proven';
}

const noFile = { id: '', take: () => false, async deliver() {}, release() {} };

async function answerCall(
  { door, request, layer }: Pick<MethodCall, 'door' | 'request' | 'layer'>,
  body: JsonObject,
): Promise<DoorOutcome> {
  try {
    const call = readRpc(body);
    const { method, version } = methodOf(call.method, request);
    const extension = activeExtension(request.headers);
    return await answers[method]({ call, version, door, request, layer, extension });
  } catch (fault) {
    if (!(fault instanceof A2aFault)) throw fault;
    return answerA2aFault(request, layer, body, fault);
  }
}

/** A free method: counted against the rate limit once, before any look-up. */
function limitRate(method: (method_call: MethodCall) => Promise<DoorOutcome>) {
  return async (method_call: MethodCall): Promise<DoorOutcome> => {
    let within = false;
    const answer = await withinRate<DoorOutcome>(method_call.request, method_call.layer.port, () => {
      within = true;
      return method(method_call).catch(fault => {
        if (!(fault instanceof A2aFault)) throw fault;
        return rpcFailure(method_call.call.id, fault.rpc);
      });
    });
    return within ? answer : refuseCall(method_call, answer as Answer);
  };
}

/** Error of a call, within the rate limit of its address. */
async function answerA2aFault(
  request: DoorRequest,
  layer: RestLayer,
  body: JsonObject | null,
  fault: A2aFault,
): Promise<DoorOutcome> {
  const id = body === null ? null : idOf(body);
  const answer = await withinRate(request, layer.port, async () => rpcFailure(id, fault.rpc));
  return answer.status === 429 ? refuseCall({ call: { id, method: '', params: {} } }, answer) : answer;
}
