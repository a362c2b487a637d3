import type { JsonObject } from '../../../schema/canonical-json.ts';
import { callDoor, type DoorOutcome } from '../../call.ts';
import { paymentIn } from '../../credentials.ts';
import type { Door, Face, FaceAtDoor } from '../../door.ts';
import type { Body, DoorRequest } from '../../door-request.ts';
import { withinRate } from '../../gate.ts';
import { priceOf, resourceOf } from '../../offer.ts';
import type { Answer } from '../../problem.ts';
import { answerHeaders } from '../openapi-headers.ts';
import { A2aCall, isHttpError, RpcFailure } from './answers.ts';
import { type Calling, refusedCall } from './calling.ts';
import { methodOf, saysA2a } from './dialect.ts';
import { activated } from './extension.ts';
import { A2aFault } from './faults.ts';
import { followTask } from './follow.ts';
import { idOf, isRpc, readRpc, rpcFailure } from './json-rpc.ts';
import { sendMessage, streamMessage } from './send.ts';
import { answerCancelTask, answerGetTask, answerListTasks } from './tasks.ts';

type Method = ReturnType<typeof methodOf>['method'];

const answers: Readonly<Record<Method, (calling: Calling) => Promise<DoorOutcome>>> = {
  send: sendMessage,
  stream: streamMessage,
  get: rateLimited(answerGetTask),
  list: rateLimited(answerListTasks),
  cancel: rateLimited(answerCancelTask),
  subscribe: rateLimited(followTask),
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

async function serveA2a(door: Door, request: DoorRequest, house: Face): Promise<DoorOutcome> {
  if (door.kind !== 'document' || request.body === null) return callDoor(door, request, house);
  const { port } = house;
  const { body } = request;
  const release =
    port.rates.hold(request.address, body.expectedBytes(door.body_bytes_max)) ??
    ((await isProven(door, request, house)) ? () => {} : null);
  if (release === null) return callDoor(door, request, house);
  let read: Body;
  try {
    read = await body.read(door, noFile);
  } finally {
    release();
  }
  if (read.kind === 'json' && isRpc(read.value)) return answerCall({ door, request, house }, read.value);
  if (read.kind === 'refused' && read.code === 'invalid_request' && saysA2a(request))
    return within(request, house, null, new A2aFault('parse_error', read.detail));
  return callDoor(door, { ...request, body: { expectedBytes: () => 0, read: async () => read } }, house);
}

/**
 * An endpoint that also accepts JSON-RPC: a body that is a call is answered as one. Any other body goes to the endpoint unchanged, and so
 * does a request that exceeds the body limit of its address, so that it gets the price first. A proven payment is exempt from that limit,
 * as in gate.ts.
 */
export const a2aFace: FaceAtDoor = {
  serve: serveA2a,
  call: A2aCall,
  fault: RpcFailure,
  headers: answerHeaders.a2a,
  hasHttpStatus: isHttpError,
};

async function isProven(door: Door, request: DoorRequest, { port }: Face): Promise<boolean> {
  const payment = await port.judge(paymentIn(request.headers), priceOf(door, resourceOf(door, request, port)));
  return payment.kind === 'proven';
}

const noFile = { id: '', take: () => false, async deliver() {}, release() {} };

async function answerCall(
  { door, request, house }: Pick<Calling, 'door' | 'request' | 'house'>,
  body: JsonObject,
): Promise<DoorOutcome> {
  try {
    const call = readRpc(body);
    const { method, version } = methodOf(call.method, request);
    const extension = activated(request.headers);
    return await answers[method]({ call, version, door, request, house, extension });
  } catch (fault) {
    if (!(fault instanceof A2aFault)) throw fault;
    return within(request, house, body, fault);
  }
}

/** A free method: counted against the rate limit once, before any look-up. */
function rateLimited(method: (calling: Calling) => Promise<DoorOutcome>) {
  return async (calling: Calling): Promise<DoorOutcome> => {
    let within = false;
    const answer = await withinRate<DoorOutcome>(calling.request, calling.house.port, () => {
      within = true;
      return method(calling).catch(fault => {
        if (!(fault instanceof A2aFault)) throw fault;
        return rpcFailure(calling.call.id, fault.rpc);
      });
    });
    return within ? answer : refusedCall(calling, answer as Answer);
  };
}

/** Error of a call, within the rate limit of its address. */
async function within(
  request: DoorRequest,
  house: Face,
  body: JsonObject | null,
  fault: A2aFault,
): Promise<DoorOutcome> {
  const id = body === null ? null : idOf(body);
  const answer = await withinRate(request, house.port, async () => rpcFailure(id, fault.rpc));
  return answer.status === 429 ? refusedCall({ call: { id, method: '', params: {} } }, answer) : answer;
}
