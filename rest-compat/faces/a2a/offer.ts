import type { JsonObject } from '../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { Answer } from '../../problem.ts';
import { A2aFault } from './faults.ts';
import type { SentMessage } from './message.ts';
import { type MethodCall, resultOf } from './method-call.ts';
import { paymentRejectedMetadata, paymentRequiredMetadata, paymentRequirements } from './payment.ts';
import { agentMessage, type TaskIds } from './task.ts';

/*
 * An unpaid request is a task that needs input. Only its client stores it, sealed into the task id. Once it is paid it is found by the name
 * of its payment.
 */

export interface UnpaidTask extends TaskIds {
  /** Name of the payment, under which the request is bought at most once. */
  readonly name: string;
  readonly chat: JsonObject;
  readonly lapsed: boolean;
}

/** It is also the context id, if the request has no intent. */
export const offerName = (id: string): string => `a2a_${sha256Hex(id).slice(0, 40)}`;

/** Null if the id is not that of an offered request. */
export function openUnpaidTask({ layer }: Pick<MethodCall, 'layer'>, id: string): UnpaidTask | null {
  const opened = layer.port.unpaid_requests.open(id);
  return opened && unpaidTaskOf(id, opened.request, opened.lapsed);
}

function unpaidTaskOf(id: string, chat: JsonObject, lapsed = false): UnpaidTask {
  const name = offerName(id);
  const context_id = typeof chat.intent_id === 'string' ? chat.intent_id : name;
  return { id, name, chat, lapsed, context_id };
}

/** Checks that a message may continue an offered request. @throws A2aFault invalid_params */
export function requirePayable(offered: UnpaidTask, { context_id, task_id }: SentMessage): void {
  if (context_id !== null && context_id !== offered.context_id && context_id !== task_id)
    throw new A2aFault('invalid_params', 'The task belongs to another context.', 'message.contextId');
}

/**
 * The task for an unpaid chat. Null if its id would be too long. `failure`: whether a payment came with the request and failed.
 * @param answer the 402
 * @throws A2aFault invalid_params if the request is invalid, paid or not
 */
export function offerTask(
  method_call: MethodCall,
  chat: JsonObject,
  answer: Answer,
  { offered, failure }: { readonly offered: UnpaidTask | null; readonly failure: boolean },
): JsonObject | null {
  const { layer, extension } = method_call;
  if (extension === null) return null;
  if (offered === null) requireChat(method_call, chat);
  const id = offered?.id ?? layer.port.unpaid_requests.seal(chat);
  if (id === null) return null;
  const body_members = JSON.parse(String(answer.body)) as JsonObject;
  const required = paymentRequirements(answer, extension.x402_version);
  const text = failure || body_members.code !== undefined ? String(body_members.error) : 'Payment is required.';
  const metadata = paymentRequiredMetadata(required, failure ? String(body_members.error) : null);
  return resultOf(method_call, { task: inputRequiredTask(offered ?? unpaidTaskOf(id, chat), text, metadata) });
}

/** The task for a client that declines to pay: it stays unpaid until it expires. */
export function declinedTask(method_call: MethodCall, offered: UnpaidTask): JsonObject {
  return resultOf(method_call, {
    task: inputRequiredTask(
      offered,
      'The payment was declined. The task stays unpaid until it expires.',
      paymentRejectedMetadata({}),
    ),
  });
}

export function inputRequiredTask(
  { id, context_id, name }: UnpaidTask,
  text?: string,
  metadata: JsonObject = {},
): JsonObject {
  const status: JsonObject = { state: 'TASK_STATE_INPUT_REQUIRED' };
  const body_members = text === undefined ? status : { ...status, message: agentMessage(name, text, metadata) };
  return { id, contextId: context_id, status: body_members };
}

/** Validates by the schema of the endpoint. @throws A2aFault invalid_params */
function requireChat({ door, request: { params, query, headers } }: MethodCall, chat: JsonObject): void {
  try {
    door.operation({ params, query, headers, body: chat });
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    throw new A2aFault('invalid_params', cause.message, String(cause.extensions.param));
  }
}
