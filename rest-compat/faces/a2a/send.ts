import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import { callDoor, type DoorOutcome } from '../../call.ts';
import { paymentIn } from '../../credentials.ts';
import type { DoorRequest } from '../../door-request.ts';
import { priceOf, resourceOf } from '../../offer.ts';
import type { Answer } from '../../problem.ts';
import { echoOf } from './extension.ts';
import { A2aFault } from './faults.ts';
import { chatOf, readMessage, type SentMessage } from './message.ts';
import { answerWith, type MethodCall, readBody, refuseCall, resultOf } from './method-call.ts';
import { declinedTask, offerTask, openUnpaidTask, requirePayable, type UnpaidTask } from './offer.ts';
import {
  namePayment,
  offersIn,
  paymentInMetadata,
  paymentStatusOf,
  settlementMetadata,
  withPayment,
} from './payment.ts';
import { agentMessage, artifactOf, receiptTime } from './task.ts';
import { type ChatCall, contextOf, eventHeaders, frameRpcEvents, taskEvents } from './task-events.ts';
import { refuseTask } from './tasks.ts';

/* SendMessage and SendStreamingMessage: sells a chat and returns it as a task. */

export async function sendMessage(method_call: MethodCall): Promise<Answer> {
  const chat_call = await chatOrPrice(method_call);
  if (!('chat' in chat_call)) return 'status' in chat_call ? chat_call : answerWith(method_call, chat_call.result);
  const outcome = await callDoor(method_call.door, chat_call.request, method_call.layer);
  if (isStream(outcome)) throw new Error('a chat was streamed that was asked for in one piece');
  if (outcome.status === 402)
    return answerUnpaid(method_call, chat_call, outcome, task => answerWith(method_call, task));
  if (outcome.status !== 200) return refuseCall(method_call, outcome);
  return answerWith(
    method_call,
    resultOf(method_call, { task: chatTask(outcome, chat_call) }),
    settledHeaders(outcome.headers),
  );
}

export async function streamMessage(method_call: MethodCall): Promise<DoorOutcome> {
  const chat_call = await chatOrPrice(method_call, { stream: true });
  const { call, extension, request } = method_call;
  const events = (source: AsyncIterable<JsonObject>, headers: Answer['headers'] = {}): DoorOutcome => ({
    status: 200,
    headers: { ...headers, ...eventHeaders, ...echoOf(extension, request.headers) },
    body: frameRpcEvents(call.id, source),
  });
  if (!('chat' in chat_call)) return 'status' in chat_call ? chat_call : events(oneEvent({ result: chat_call.result }));
  const outcome = await callDoor(method_call.door, chat_call.request, method_call.layer);
  if (isStream(outcome)) return events(taskEvents(method_call, outcome, chat_call), settledHeaders(outcome.headers));
  if (outcome.status === 402)
    return answerUnpaid(method_call, chat_call, outcome, task => events(oneEvent({ result: task })));
  return refuseCall(method_call, outcome);
}

const isStream = (outcome: DoorOutcome): outcome is Exclude<DoorOutcome, Answer> =>
  outcome.body !== null && typeof outcome.body === 'object' && Symbol.asyncIterator in outcome.body;

/**
 * If a message is no valid chat, an unpaid caller gets the price first, as at every endpoint, and a paid caller the reason.
 * @throws A2aFault
 */
async function chatOrPrice(
  method_call: MethodCall,
  members: JsonObject = {},
): Promise<ChatCall | Answer | { readonly result: JsonObject }> {
  try {
    return await readChat(method_call, members);
  } catch (fault) {
    if (!(fault instanceof A2aFault) || method_call.extension !== null) throw fault;
    const { door, request, layer } = method_call;
    const priced = await callDoor(door, { ...request, body: readBody({}) }, layer);
    if (priced.status !== 402 || isStream(priced)) throw fault;
    return refuseCall(method_call, priced);
  }
}

async function readChat(
  method_call: MethodCall,
  members: JsonObject,
): Promise<ChatCall | Answer | { readonly result: JsonObject }> {
  const { call, version, request } = method_call;
  const sent = readMessage(call.params, version);
  const offered = sent.task_id === null ? null : openUnpaidTask(method_call, sent.task_id);
  if (sent.task_id !== null && offered === null) return refuseTask(method_call, sent.task_id);
  // This refusal first looks up whether the task was bought in time, because a failed look-up must not be answered like an unknown task.
  if (offered?.lapsed)
    return refuseTask(
      method_call,
      offered.name,
      'The offer has expired. Send the message again without a task id to get a new one.',
    );
  if (offered) requirePayable(offered, sent);
  if (offered && paymentStatusOf(sent.metadata) === 'payment-rejected')
    return { result: declinedTask(method_call, offered) };
  const chat = offered?.chat ?? chatOf(sent);
  const body = { ...chat, ...members };
  const payment = paymentInMetadata(sent.metadata);
  const named = payment && offered ? namePayment(payment, offered.name, offersOf(method_call)) : payment;
  const headers = withName(withPayment(request.headers, named), sent, offered, body);
  return { chat, offered, request: { ...request, headers, body: readBody(body) } };
}

function offersOf({ door, request, layer: { port } }: MethodCall): readonly JsonObject[] {
  const price = priceOf(door, resourceOf(door, request, port));
  return price ? offersIn(port.challenge(price, null).required) : [];
}

/**
 * An offered request is bought once, and a message with an API key is processed once (§3.3.1), because its answer could not be requested
 * again. A payment identifies its call itself.
 */
function withName(headers: DoorRequest['headers'], sent: SentMessage, offered: UnpaidTask | null, body: JsonObject) {
  if (headers['idempotency-key'] !== undefined) return headers;
  if (offered) return { ...headers, 'idempotency-key': offered.name };
  const by_key = headers.authorization !== undefined || headers['x-api-key'] !== undefined;
  if (!by_key || paymentIn(headers) !== null) return headers;
  return { ...headers, 'idempotency-key': `a2a_${sha256Hex(canonicalJson([sent.message_id, body]))}` };
}

/** With the x402 extension the price is in a task, otherwise it is an HTTP 402. */
function answerUnpaid<A>(
  method_call: MethodCall,
  { chat, request, offered }: ChatCall,
  answer: Answer,
  answerWithTask: (task: JsonObject) => A,
): A | Answer {
  const failure = paymentIn(request.headers) !== null;
  const task = offerTask(method_call, chat, answer, { offered, failure });
  return task === null ? refuseCall(method_call, answer) : answerWithTask(task);
}

function chatTask({ body, headers }: Answer, chat_call: ChatCall): JsonObject {
  const { svc, ...answer } = JSON.parse(String(body)) as JsonObject & { readonly svc: JsonObject };
  const task_id = String(svc.task_id);
  const paid = settlementMetadata(headers);
  const message = agentMessage(task_id, 'Payment successful.', paid);
  const done = { state: 'TASK_STATE_COMPLETED', ...receiptTime(svc) };
  return {
    id: chat_call.offered?.id ?? task_id,
    contextId: contextOf(chat_call, task_id),
    status: Object.keys(paid).length === 0 ? done : { ...done, message },
    artifacts: [artifactOf(answer)],
    metadata: { svc },
  };
}

/** Headers about the settlement. JSON-RPC sets its own content type. */
function settledHeaders({
  'content-type': _type,
  'cache-control': _cache,
  ...headers
}: Answer['headers']): Answer['headers'] {
  return headers;
}

async function* oneEvent(event: JsonObject): AsyncGenerator<JsonObject> {
  yield event;
}
