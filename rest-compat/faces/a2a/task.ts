import { decodeJwt } from 'jose';
import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import type { TaskState } from '../../../schema/task-state.ts';

/* Tasks, artifacts and states in the form of A2A 1.0. */

/** A2A state by state of this service. An accepted task is what was sold, so with its receipt it is completed. */
export const a2aStates: Readonly<Record<TaskState, string>> = {
  working: 'TASK_STATE_WORKING',
  settling: 'TASK_STATE_WORKING',
  released: 'TASK_STATE_FAILED',
  canceled: 'TASK_STATE_CANCELED',
  refused: 'TASK_STATE_REJECTED',
  completed: 'TASK_STATE_COMPLETED',
  accepted: 'TASK_STATE_COMPLETED',
};

export const isTerminal = (state: TaskState): boolean => a2aStates[state] !== 'TASK_STATE_WORKING';

/** A message of the agent for a state. */
export function agentMessage(id: string, text: string, metadata: JsonObject): JsonObject {
  return { messageId: `${id}-status`, role: 'ROLE_AGENT', parts: [{ text }], metadata };
}

/** The answer to a chat as an artifact: its text is one part, everything else a data part. */
export function artifactOf(answer: JsonObject): JsonObject {
  const { choices, usage = null, model = null } = answer;
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  const message = isJsonObject(choice) && isJsonObject(choice.message) ? choice.message : null;
  const finish_reason = isJsonObject(choice) ? (choice.finish_reason ?? null) : null;
  return {
    artifactId: String(answer.id ?? 'answer'),
    name: 'answer',
    parts: message === null ? [dataPart(answer)] : partsOf(message),
    metadata: { model, usage, finish_reason },
  };
}

export const dataPart = (data: Json): JsonObject => ({ data, mediaType: 'application/json' });
export const textPart = (text: string): JsonObject => ({ text, mediaType: 'text/plain' });

function partsOf(message: JsonObject): JsonObject[] {
  const { content } = message;
  const text = typeof content === 'string' && content !== '' ? [textPart(content)] : [];
  const isText = Object.keys(message).every(name => name === 'role' || name === 'content');
  return isText && text.length > 0 ? text : [...text, dataPart(message)];
}

/** Ids of a task as its client knows it: those of the offer, if there was one. */
export interface TaskIds {
  readonly id: string;
  readonly context_id: string;
}

/** Time of the receipt, as signed in it. Empty if the receipt has none. */
export function receiptTime({ issuer_signature }: JsonObject): { readonly timestamp?: string } {
  if (!isJsonObject(issuer_signature)) return {};
  const { collected_at } = decodeJwt(String(issuer_signature.jws));
  return typeof collected_at === 'string' ? { timestamp: collected_at } : {};
}

/** A task as read from the graph. Clients other than its buyer only see its state. */
export function a2aTask(
  bought: JsonObject,
  shown: Partial<TaskIds> = {},
  historyLength: number | null = null,
): JsonObject {
  const { task_id, state, at, answer, receipt } = bought;
  const id = shown.id ?? String(task_id);
  const task = {
    id,
    contextId: shown.context_id ?? String(bought.context_id),
    status: { state: a2aStates[state as TaskState], ...(at ? { timestamp: at } : {}) },
  };
  if (bought.is_buyers !== true) return task;
  return {
    ...task,
    ...(isJsonObject(answer) ? { artifacts: [artifactOf(answer)] } : {}),
    // Messages are not stored, because they belong to the sender.
    ...(historyLength ? { history: [] } : {}),
    metadata: isJsonObject(receipt) ? { svc: receipt } : { svc: { task_id: task_id ?? null } },
  };
}
