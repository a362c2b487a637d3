import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { taskNamedBy } from '../../../schema/ids.ts';
import { joinedReasoning, type Reasoning, reasoningMembersOf } from '../../../schema/reasoning.ts';
import type { DoorRequest } from '../../door-request.ts';
import { eventStream, sseEvent } from '../../sse.ts';
import type { StreamedAnswer } from '../../streamed-answer.ts';
import type { Calling } from './calling.ts';
import { refusalOf } from './faults.ts';
import type { RpcId } from './json-rpc.ts';
import { legacyResult } from './legacy.ts';
import type { Offered } from './offer.ts';
import { completed } from './payment.ts';
import { agentMessage, dataPart, type ShownAs, since, textPart } from './task.ts';

/* A streamed chat as the events of a task: the task itself, what it brings piece by piece, and how it ended. */

export const eventHeaders = eventStream;

/** Each event is a whole answer of JSON-RPC: `{result}` or `{error}`. */
export async function* framed(id: RpcId, events: AsyncIterable<JsonObject>): AsyncGenerator<string> {
  for await (const event of events) yield sseEvent({ jsonrpc: '2.0', id, ...event });
}

/** A message as the call of the door that it stands for. */
export interface Chat {
  readonly chat: JsonObject;
  readonly request: DoorRequest;
  /** The offered request that it pays for. */
  readonly offered: Offered | null;
}

/** The intent under which it is bought, and where there is none, what it is of: an offered request, or its own task. */
export function contextOf({ chat, request, offered }: Chat, task_id: string): string {
  return String(chat.intent_id ?? request.headers['x-svc-intent'] ?? offered?.context_id ?? task_id);
}

/** `{result}` for each step. Where it broke off, the last is the task that failed, or `{error}` where it has no receipt. */
export async function* taskEvents(
  { version }: Pick<Calling, 'version'>,
  { body, headers }: StreamedAnswer,
  asked: Chat,
): AsyncGenerator<JsonObject> {
  const result = (event: JsonObject) => ({ result: version === '0.3' ? legacyResult(event) : event });
  const spoken = new Spoken(headers);
  for await (const chunk of chunksOf(body)) {
    if (isJsonObject(chunk.error)) {
      const failed = spoken.end(chunk.error);
      return yield* failed ? failed.map(result) : [{ error: brokenOff(chunk) }];
    }
    if (!spoken.shown) {
      const id = taskNamedBy(String(chunk.id));
      spoken.shown = { id: asked.offered?.id ?? id, context_id: contextOf(asked, id) };
      yield result({ task: spoken.begun() });
    }
    for (const update of spoken.hear(chunk)) yield result(update);
  }
  yield* (spoken.end(null) ?? []).map(result);
}

/** What a chat says in server-sent events, one object each; the word that ends it is none. */
async function* chunksOf(frames: AsyncIterable<string | Uint8Array>): AsyncGenerator<JsonObject> {
  for await (const frame of frames) {
    const data = String(frame).slice('data: '.length);
    if (data.startsWith('{')) yield JSON.parse(data) as JsonObject;
  }
}

function brokenOff(chunk: JsonObject): JsonObject {
  const { code, message } = chunk.error as JsonObject;
  const { status = 500 } = chunk;
  return { ...refusalOf({ status: Number(status), body: JSON.stringify({ ...chunk, code, detail: message }) }) };
}

/** A chat as far as it was heard. */
class Spoken {
  shown: ShownAs | null = null;
  readonly #headers: StreamedAnswer['headers'];
  #artifact_id = '';
  #pieces = 0;
  /** What is no text, in the order in which its pieces came. */
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

  begun(): JsonObject {
    const { taskId: id, contextId } = this.#task;
    return { id, contextId, status: { state: 'TASK_STATE_WORKING' } };
  }

  /** The updates that a chunk comes to. */
  hear({ id, choices, svc }: JsonObject): JsonObject[] {
    this.#artifact_id = String(id);
    const [choice] = Array.isArray(choices) ? (choices as readonly JsonObject[]) : [];
    if (isJsonObject(svc)) this.#svc = svc;
    return choice ? this.#said(choice.delta as JsonObject) : [];
  }

  #said({ content, refusal, tool_calls, ...thought }: JsonObject): JsonObject[] {
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
   * The last updates: what is no text, and how it ended, with the receipt. Of an answer that is not whole the reason alone, since a call
   * may lack half of its arguments. Null without a receipt.
   */
  end(error: JsonObject | null): JsonObject[] | null {
    const svc = this.#svc;
    if (svc === null) return null;
    const text = error === null ? 'Payment successful.' : String(error.message);
    const paid = completed(this.#headers);
    const told = error !== null || Object.keys(paid).length > 0;
    const status = {
      state: error === null ? 'TASK_STATE_COMPLETED' : 'TASK_STATE_FAILED',
      ...since(svc),
      ...(told ? { message: agentMessage(String(svc.task_id), text, paid) } : {}),
    };
    const ended = { statusUpdate: { ...this.#task, status, metadata: { svc, ...(error && { error }) } } };
    return error === null ? [...this.#rest(), ended] : [ended];
  }
}
