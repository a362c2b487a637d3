import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Wallet } from '../buyer.ts';
import { audioFormOf } from './audio-form.ts';
import { taskOf } from './tasks.ts';

/** A paid endpoint other than chat. */
export interface OtherPaidDoor {
  readonly path: `/${string}`;
  /** A valid request of that wallet. Requests with different names are different requests. */
  request(account: Pick<Wallet, 'address'>, name: string): JsonObject | FormData;
}

export const otherPaidDoors: readonly OtherPaidDoor[] = [
  { path: '/v1/responses', request: (_, name) => ({ input: name }) },
  {
    path: '/v1/messages',
    request: (_, name) => ({ max_tokens: 64, messages: [{ role: 'user', content: name }] }),
  },
  { path: '/a2a-message', request: (_, name) => ({ messages: [{ role: 'user', content: name }] }) },
  { path: '/task-request', request: taskOf },
  { path: '/task-quote', request: taskOf },
  { path: '/v1/images/generations', request: (_, name) => ({ prompt: name }) },
  { path: '/v1/embeddings', request: (_, name) => ({ input: name }) },
  { path: '/v1/audio/transcriptions', request: (_, name) => audioFormOf({ file_of: name }) },
];
