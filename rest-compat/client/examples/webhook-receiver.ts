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
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { payingFetch } from 'spend-receipt-gateway/client';
import { Webhook } from 'standardwebhooks';
import { formatUnits, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

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

async function register() {
  const at = Math.floor(Date.now() / 1000);
  const wallet_signature = await wallet.signMessage({ message: `svc.register.pay|${wallet.address}|${at}` });
  const body = { agentWallet: wallet.address, wallet_signature, signature_timestamp: at };
  const registered = await send<{ agent_id: number; session: string }>('POST', '/v1/agents/register', body);
  // The session opens the book, and is returned once: keep it where secrets are kept.
  console.log(`AGENT_ID=${registered.agent_id} SESSION=${registered.session}`);
  return registered;
}
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
  /** Counts all messages of the book without a gap. Null in a ping. */
  readonly number: number | null;
  readonly task_id: string;
  readonly row: { readonly payment: { readonly amount: string; readonly ref: string } };
}
/** A real receiver keeps ids in its database, in the transaction of what a message causes. */
const seen = new Set<string>();
const server = createServer(async (request, response) => {
  try {
    // Over the bytes as they came: JSON that was parsed and written again may have others.
    const message = webhook.verify(await text(request), request.headers as Record<string, string>) as Message;
    if (!seen.has(message.id)) {
      seen.add(message.id);
      const { kind, number, task_id, row } = message;
      console.log(`message ${number}: ${kind} ${task_id}, ${formatUnits(BigInt(row.payment.amount), 6)} USDC`);
      server.emit(kind, task_id);
    }
    // Anything but 2xx is delivered again later.
    response.writeHead(204).end();
  } catch {
    // Not signed with the secret, too old, or broken off.
    response.writeHead(401).end();
  }
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
