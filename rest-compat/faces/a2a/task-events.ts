import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { taskNamedBy } from '../../../schema/ids.ts';
import { joinedReasoning, type Reasoning, reasoningMembersOf } from '../../../schema/reasoning.ts';
import type { DoorRequest } from '../../door-request.ts';
import { eventStream, sseEvent } from '../../sse.ts';
import type { StreamedAnswer } from '../../streamed-answer.ts';
import { refusalOf } from './faults.ts';
import type { RpcId } from './json-rpc.ts';
import { legacyResult } from './legacy.ts';
import type { MethodCall } from './method-call.ts';
import type { UnpaidTask } from './offer.ts';
import { settlementMetadata } from './payment.ts';
import { agentMessage, dataPart, receiptTime, type TaskIds, textPart } from './task.ts';

/* A streamed chat as events of a task: the task, its output piece by piece, and its final state. */

export const eventHeaders = eventStream;

/** Each event is a complete JSON-RPC response: `{result}` or `{error}`. */
export async function* frameRpcEvents(id: RpcId, events: AsyncIterable<JsonObject>): AsyncGenerator<string> {
  for await (const event of events) yield sseEvent({ jsonrpc: '2.0', id, ...event });
}

/** A message as a call of the endpoint. */
export interface ChatCall {
  readonly chat: JsonObject;
  readonly request: DoorRequest;
  /** The offered request that the message pays for. */
  readonly offered: UnpaidTask | null;
}

/** The context id: the intent; without one, the context of the offered request or the id of the task itself. */
export function contextOf({ chat, request, offered }: ChatCall, task_id: string): string {
  return String(chat.intent_id ?? request.headers['x-svc-intent'] ?? offered?.context_id ?? task_id);
}

/** `{result}` for each step. If the stream is incomplete, the last event is the failed task, or `{error}` if there is no receipt. */
export async function* taskEvents(
  { version }: Pick<MethodCall, 'version'>,
  { body, headers }: StreamedAnswer,
  chat_call: ChatCall,
): AsyncGenerator<JsonObject> {
  const result = (event: JsonObject) => ({ result: version === '0.3' ? legacyResult(event) : event });
  const streamed = new StreamedChat(headers);
  for await (const chunk of chunksOf(body)) {
    if (isJsonObject(chunk.error)) {
      const failed = streamed.end(chunk.error);
      return yield* failed ? failed.map(result) : [{ error: streamError(chunk) }];
    }
    if (!streamed.shown) {
      const id = taskNamedBy(String(chunk.id));
      streamed.shown = { id: chat_call.offered?.id ?? id, context_id: contextOf(chat_call, id) };
      yield result({ task: streamed.workingTask() });
    }
    for (const update of streamed.add(chunk)) yield result(update);
  }
  yield* (streamed.end(null) ?? []).map(result);
}

/** The objects in the server-sent events of a chat. The final `[DONE]` is skipped. */
async function* chunksOf(frames: AsyncIterable<string | Uint8Array>): AsyncGenerator<JsonObject> {
  for await (const frame of frames) {
    const data = String(frame).slice('data: '.length);
    if (data.startsWith('{')) yield JSON.parse(data) as JsonObject;
  }
}

function streamError(chunk: JsonObject): JsonObject {
  const { code, message } = chunk.error as JsonObject;
  const { status = 500 } = chunk;
  return { ...refusalOf({ status: Number(status), body: JSON.stringify({ ...chunk, code, detail: message }) }) };
}

/** Collects the chunks of a chat. */
class StreamedChat {
  shown: TaskIds | null = null;
  readonly #headers: StreamedAnswer['headers'];
  #artifact_id = '';
  #pieces = 0;
  /** Output other than text, in the order of its pieces. */
  readonly #calls = new Map<number, JsonObject>();
  #refusal = '';
  #reasoning: Reasoning = {};
  #svc: JsonObject | null = null;

  constructor(headers: StreamedAnswer['headers']) {
    this.#headers = headers;
  }

  get #task() {
    if (this.shown === null) throw new Error('a chat was heard before its task was known');
    return { taskId: this.shown.id, contextId: this.shown.context_id };
  }

  workingTask(): JsonObject {
    const { taskId: id, contextId } = this.#task;
    return { id, contextId, status: { state: 'TASK_STATE_WORKING' } };
  }

  /** The updates for a chunk. */
  add({ id, choices, svc }: JsonObject): JsonObject[] {
    this.#artifact_id = String(id);
    const [choice] = Array.isArray(choices) ? (choices as readonly JsonObject[]) : [];
    if (isJsonObject(svc)) this.#svc = svc;
    return choice ? this.#addDelta(choice.delta as JsonObject) : [];
  }

  #addDelta({ content, refusal, tool_calls, ...thought }: JsonObject): JsonObject[] {
    if (typeof refusal === 'string') this.#refusal += refusal;
    this.#reasoning = joinedReasoning(this.#reasoning, reasoningMembersOf(thought));
    for (const call of Array.isArray(tool_calls) ? (tool_calls as readonly JsonObject[]) : []) this.#call(call);
    return typeof content === 'string' && content !== '' ? [this.#piece(textPart(content))] : [];
  }

  #call({ index, function: piece, ...call }: JsonObject): void {
    const { arguments: more = '', ...named } = isJsonObject(piece) ? piece : {};
    const known = this.#calls.get(Number(index)) ?? {};
    const begun = isJsonObject(known.function) ? known.function : {};
    const called = { ...begun, ...named, arguments: String(begun.arguments ?? '') + String(more) };
    this.#calls.set(Number(index), { ...known, ...call, function: called });
  }

  #piece(part: JsonObject): JsonObject {
    const append = this.#pieces++ > 0;
    const artifact = { artifactId: this.#artifact_id, name: 'answer', parts: [part] };
    return { artifactUpdate: { ...this.#task, artifact, append } };
  }

  #rest(): JsonObject[] {
    const reasoning = this.#reasoning;
    if (this.#calls.size === 0 && this.#refusal === '' && Object.keys(reasoning).length === 0) return [];
    const message = {
      role: 'assistant',
      ...(this.#calls.size === 0 ? {} : { tool_calls: [...this.#calls.values()] }),
      ...(this.#refusal === '' ? {} : { refusal: this.#refusal }),
      ...reasoning,
    };
    return [this.#piece(dataPart(message))];
  }

  /**
   * The last updates: output other than text, and the final state with the receipt. If the answer is incomplete only the reason is given,
   * because the arguments of a tool call may be cut off. Null without a receipt.
   */
  end(error: JsonObject | null): JsonObject[] | null {
    const svc = this.#svc;
    if (svc === null) return null;
    const text = error === null ? 'Payment successful.' : String(error.message);
    const paid = settlementMetadata(this.#headers);
    const has_message = error !== null || Object.keys(paid).length > 0;
    const status = {
      state: error === null ? 'TASK_STATE_COMPLETED' : 'TASK_STATE_FAILED',
      ...receiptTime(svc),
      ...(has_message ? { message: agentMessage(String(svc.task_id), text, paid) } : {}),
    };
    const ended = { statusUpdate: { ...this.#task, status, metadata: { svc, ...(error && { error }) } } };
    return error === null ? [...this.#rest(), ended] : [ended];
  }
}
