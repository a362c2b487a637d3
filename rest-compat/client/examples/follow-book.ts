/*
 * Follows a book into a file without missing an event, and goes on where it stopped.
 *
 * Needs: the service (SERVICE_URL, default http://127.0.0.1:4000), and AGENT_ID and SESSION of a book; or a wallet with USDC
 * on Base (PRIVATE_KEY), which is registered as an agent with a book. BOOK_FILE names the file.
 * Prints: each event of the book as it arrives. With a wallet it buys two chats meanwhile, and ends once both have arrived;
 * without one, Ctrl-C ends it.
 */
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { payingFetch } from 'spend-receipt-gateway/client';
import { type BookCursor, createBookFollower, type FollowedEvent } from 'spend-receipt-gateway/client/book-follower';
import { registerAgent } from 'spend-receipt-gateway/client/register-agent';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { keepSession } from './keep-session.ts';

const { SERVICE_URL = 'http://127.0.0.1:4000', PRIVATE_KEY = '', AGENT_ID, SESSION, BOOK_FILE } = process.env;

/** Only what registers or pays needs the wallet: a session alone opens its book. */
function openWallet() {
  const wallet = privateKeyToAccount(PRIVATE_KEY as Hex);
  const pay = payingFetch({
    payments: new x402Client().register('eip155:*', new ExactEvmScheme(wallet)),
    signText: message => wallet.signMessage({ message }),
  });
  const send = async <T>(path: string, body: object): Promise<T> => {
    const headers = { 'content-type': 'application/json' };
    const response = await pay(SERVICE_URL + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  return { wallet, pay, send };
}

async function register() {
  const { wallet, pay } = openWallet();
  return keepSession(await registerAgent({ pay, url: SERVICE_URL, wallet }));
}
const { agent_id, session } = SESSION ? { agent_id: Number(AGENT_ID), session: SESSION } : await register();
const file = BOOK_FILE ?? join(await mkdtemp(join(tmpdir(), 'book-')), `${agent_id}.jsonl`);

// The follower reads its position from the store, and gives it each event with the cursor after it. Both are written at once, here as one
// line, so that no event is lost or taken twice, whenever this program is killed.
const waiting = new Map<string, () => void>();
const arrived = (task_id: string) => new Promise<void>(resolve => waiting.set(task_id, resolve));
const seen = new Set<string>();
const store = {
  load(): BookCursor | null {
    const last = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) : '';
    return last ? (JSON.parse(last) as { cursor: BookCursor }).cursor : null;
  },
  apply(event: FollowedEvent, cursor: BookCursor) {
    // What a book holds is private: only this user can read it.
    appendFileSync(file, `${JSON.stringify({ event, cursor })}\n`, { mode: 0o600 });
    const { position, kind, task_id } = event;
    // task_id is null for an event that concerns no row, such as a change of a policy.
    console.log(`event ${position}: ${kind}${task_id === null ? '' : ` ${task_id}`}`);
    if (task_id === null) return;
    seen.add(task_id);
    waiting.get(task_id)?.();
  },
};
const ended = Promise.withResolvers<void>();
const follower = createBookFollower({
  url: SERVICE_URL,
  books: [{ agent_id, session }],
  store,
  on_trouble: ({ fault, again_in_ms }) => console.error(`${fault}; again in ${again_in_ms} ms`),
  // `refused`: the session was rotated. `unproven`: an event does not follow from those before it: two histories exist.
  on_end: end => {
    console.log(`the book of agent ${end.agent_id} ended: ${end.kind}`);
    ended.resolve();
  },
});

async function buyChats() {
  const { send } = openWallet();
  for (const content of ['What is a spend receipt?', 'And who can check it?']) {
    const { svc } = await send<{ svc: { task_id: string } }>('/v1/chat/completions', {
      messages: [{ role: 'user', content }],
    });
    if (!seen.has(svc.task_id)) await arrived(svc.task_id);
  }
}
await Promise.race([ended.promise, PRIVATE_KEY ? buyChats() : once(process, 'SIGINT')]);
await follower.close();
console.log(`kept in ${file}`);
