import { HubCompletion } from './completion.ts';
import { readJsonAs } from './json.ts';
import type { Question } from './question.ts';

/** All that a hub learns: no header, address, wallet or id of the caller; every call goes out under our own key. */
export interface HubRequest {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly max_tokens: number | null;
  readonly temperature: number | null;
}

export const CHAT_PATH = '/chat/completions';

/** A chat that is answered in one piece. */
export function chatQuestion(request: HubRequest): Question<HubCompletion> {
  return {
    modality: 'text',
    path: CHAT_PATH,
    body: model => ({ content_type: 'application/json', bytes: JSON.stringify(chatBody(request, model)) }),
    read: bytes => readJsonAs(HubCompletion, bytes),
  };
}

/** Built from known members only, so that nothing of the caller's slips through with a spread. */
export function chatBody({ messages, max_tokens, temperature }: HubRequest, model: string): object {
  return {
    model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    ...(max_tokens === null ? {} : { max_tokens }),
    ...(temperature === null ? {} : { temperature }),
  };
}
