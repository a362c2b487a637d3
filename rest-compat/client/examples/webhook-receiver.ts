/*
 * Receives a book's webhooks, checks the signature of each by standardwebhooks, and drops what it has seen before.
 *
 * Needs: the service (SERVICE_URL, default http://127.0.0.1:4000) and a wallet with USDC on Base (PRIVATE_KEY). The wallet
 * is registered as an agent with a book; if it is registered already, give AGENT_ID and SESSION of its book.
 * A service delivers to public https URLs alone: give one that leads to PORT (4100) as WEBHOOK_URL, or start the service by
 * `NODE_ENV=test npm start`, which delivers to this machine too.
 * Prints: each message. It buys a chat, and ends once both messages about it have arrived.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { payingFetch } from 'spend-receipt-gateway/client';
import { registerAgent } from 'spend-receipt-gateway/client/register-agent';
import { Webhook } from 'standardwebhooks';
import { formatUnits, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { keepSession } from './keep-session.ts';

const { SERVICE_URL = 'http://127.0.0.1:4000', PRIVATE_KEY = '', AGENT_ID, SESSION, PORT = '4100' } = process.env;
const { WEBHOOK_URL = `http://127.0.0.1:${PORT}/` } = process.env;
const wallet = privateKeyToAccount(PRIVATE_KEY as Hex);
const pay = payingFetch({
  payments: new x402Client().register('eip155:*', new ExactEvmScheme(wallet)),
  signText: message => wallet.signMessage({ message }),
});
async function send<T>(method: string, path: string, body?: object, headers = {}): Promise<T> {
  const sent = { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
  const response = await pay(SERVICE_URL + path, sent);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

const register = async () => keepSession(await registerAgent({ pay, url: SERVICE_URL, wallet }));
const { agent_id, session } = SESSION ? { agent_id: Number(AGENT_ID), session: SESSION } : await register();
const hook = `/v1/agents/${agent_id}/book/webhook`;
const owner = { 'X-SVC-Session': session };

// `settle`: a call was paid for. `collected`: its transfer was seen. The secret is returned once.
const set = { url: WEBHOOK_URL, events: ['settle', 'collected'] };
const { secret_once } = await send<{ secret_once: string }>('PUT', hook, set, owner).catch((fault: Error) => {
  console.error(fault.message);
  console.error('Set WEBHOOK_URL to a public https URL, or start the service by NODE_ENV=test npm start.');
  process.exit(1);
});
const webhook = new Webhook(secret_once);

interface Message {
  /** The same for every attempt to deliver it. */
  readonly id: string;
  readonly kind: string;
  /** Counts all messages of the book without a gap. Null in a ping, as are `task_id` and `row`. */
  readonly number: number | null;
  readonly task_id: string | null;
  readonly row: { readonly payment: { readonly amount: string; readonly ref: string } } | null;
}

const BODY_BYTES_MAX = 262_144;
/** Null if it is longer: until its signature is checked, a request may come from anybody. */
async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  // The request is not destroyed, so that the sender gets the response.
  for await (const piece of request.iterator({ destroyOnReturn: false })) {
    bytes += piece.length;
    if (bytes > BODY_BYTES_MAX) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

/** Over the bytes as they came: JSON that was parsed and written again may have others. Null if not signed, or too old. */
function verifyMessage(body: string, headers: IncomingMessage['headers']): Message | null {
  try {
    return webhook.verify(body, headers as Record<string, string>) as Message;
  } catch {
    return null;
  }
}

/** What the messages are for. */
function work({ kind, number, task_id, row }: Message): void {
  // A ping is sent on demand, to test the webhook, and concerns no row.
  if (row === null) console.log(`message without a row: ${kind}`);
  else console.log(`message ${number}: ${kind} ${task_id}, ${formatUnits(BigInt(row.payment.amount), 6)} USDC`);
  server.emit(kind, task_id);
}

/** A real receiver keeps ids in its database, in the transaction of what a message causes. */
const seen = new Set<string>();
async function receive(request: IncomingMessage): Promise<number> {
  const body = await bodyOf(request);
  if (body === null) return 413;
  const message = verifyMessage(body, request.headers);
  if (message === null) return 401;
  if (seen.has(message.id)) return 204;
  work(message);
  // The id is stored after the work: if the work fails, the next attempt to deliver the message does it.
  seen.add(message.id);
  return 204;
}
const server = createServer(async (request, response) => {
  // A message is delivered again later if the response is not 2xx.
  const status = await receive(request).catch((fault: unknown) => {
    console.error(fault);
    return 500;
  });
  // The rest of a body that was not read to its end is not read any more.
  response.writeHead(status, request.complete ? {} : { connection: 'close' }).end();
}).listen(Number(PORT), '127.0.0.1');
await once(server, 'listening');

const both = Promise.all([once(server, 'settle'), once(server, 'collected')]);
const chat = { messages: [{ role: 'user', content: 'What is a spend receipt?' }] };
const { svc } = await send<{ svc: { task_id: string } }>('POST', '/v1/chat/completions', chat);
console.log(`bought ${svc.task_id}`);
await both;
await send('DELETE', hook, undefined, owner);
server.close();
server.closeAllConnections();
