import type { Json, JsonObject } from '../../../../schema/canonical-json.ts';
import type { Asked } from '../../../../schema/requests/chat-completion.ts';
import type { ChatMessage } from '../../../../schema/requests/chat-message.ts';
import { HubCompletion } from './completion.ts';
import { readJsonAs } from './json.ts';
import type { Question } from './question.ts';

/** All that a hub learns: no header, address, wallet or id of the caller; every call goes out under our own key. */
export interface HubRequest extends Asked {
  readonly messages: readonly ChatMessage[];
  readonly max_tokens: number | null;
  readonly temperature: number | null;
}

export const CHAT_PATH = '/chat/completions';

/** A chat that is answered in one piece. */
export function chatQuestion(request: HubRequest): Question<HubCompletion> {
  return {
    modality: 'text',
    path: CHAT_PATH,
    body: (model, reasons) => ({
      content_type: 'application/json',
      bytes: JSON.stringify(chatBody(request, model, reasons)),
    }),
    read: bytes => readJsonAs(HubCompletion, bytes),
  };
}

/** What goes on as it was asked for, where it was. */
const forwarded = [
  'max_tokens',
  'temperature',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'top_p',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
] as const satisfies readonly (keyof HubRequest)[];

/** Built from known members only, so that nothing of the caller's slips through with a spread. */
export function chatBody(request: HubRequest, model: string, reasons: boolean): JsonObject {
  const names = reasons ? ([...forwarded, 'reasoning_effort'] as const) : forwarded;
  const members = names.flatMap((name): [string, Json][] => {
    const value = request[name];
    return value === null || value === undefined ? [] : [[name, value as Json]];
  });
  return { model, messages: request.messages.map(messageOf), ...Object.fromEntries(members) };
}

function messageOf({ role, content, parts, tool_calls, refusal, tool_call_id }: ChatMessage): JsonObject {
  return {
    role,
    content: parts ?? content ?? null,
    ...(tool_calls ? { tool_calls } : {}),
    ...(refusal === undefined ? {} : { refusal }),
    ...(tool_call_id === undefined ? {} : { tool_call_id }),
  };
}
