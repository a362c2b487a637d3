/*
 * Serves a dashboard: the rows of a book as they happen and its spend by model, by Apollo Client and graphql-ws.
 *
 * Needs: the service (SERVICE_URL, default http://127.0.0.1:4000) and a wallet with USDC on Base (PRIVATE_KEY). The wallet
 * is registered as an agent with a book; if it is registered already, give AGENT_ID and SESSION of its book.
 * PORT (4101) is the page's.
 * Prints: the URL to open, once. Each Enter buys a chat for 0.002 USDC, and its row appears on the page. Ctrl-C ends it.
 * The page is dashboard-apollo/page.ts, which shows what dashboard-apollo/book.ts reads.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { build } from 'esbuild';
import { payingFetch } from 'spend-receipt-gateway/client';
import { registerAgent } from 'spend-receipt-gateway/client/register-agent';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { keepSession } from './keep-session.ts';

const { SERVICE_URL = 'http://127.0.0.1:4000', PRIVATE_KEY = '', AGENT_ID, SESSION, PORT = '4101' } = process.env;
const wallet = privateKeyToAccount(PRIVATE_KEY as Hex);
const pay = payingFetch({
  payments: new x402Client().register('eip155:*', new ExactEvmScheme(wallet)),
  signText: message => wallet.signMessage({ message }),
});
async function send<T>(path: string, body: object): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  const response = await pay(SERVICE_URL + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

const register = async () => keepSession(await registerAgent({ pay, url: SERVICE_URL, wallet }));

const { outputFiles } = await build({
  entryPoints: [join(import.meta.dirname, 'dashboard-apollo', 'page.ts')],
  bundle: true,
  write: false,
  minify: true,
  format: 'esm',
  platform: 'browser',
});
const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Spend</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
  div { overflow-x: auto; }
  table { border-collapse: collapse; width: 100%; }
  th, td { border-bottom: 1px solid #ccc; padding: 0.25rem 0.5rem; text-align: left; white-space: nowrap; }
</style>
<h1>Spend</h1>
<p id="sums">Connecting …</p>
<h2>By model</h2>
<div><table id="models"></table></div>
<h2>Newest rows</h2>
<div><table id="rows"></table></div>
<script type="module" src="/page.js"></script>
</html>
`;
const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
  '/': ['text/html', PAGE],
  '/page.js': ['text/javascript', outputFiles[0]?.text ?? ''],
};
// The page runs its own script, and reaches the service and this server alone.
const reaches = `'self' ${SERVICE_URL} ${SERVICE_URL.replace(/^http/, 'ws')}`;
const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src ${reaches}`;

const { agent_id, session } = SESSION ? { agent_id: Number(AGENT_ID), session: SESSION } : await register();
// The page gets the session for a key that is accepted once, so what a terminal or a browser's history keeps opens nothing.
let key: string | null = randomBytes(32).toString('base64url');
function takeBook(given: string | undefined): object | null {
  if (key === null || given !== `Bearer ${key}`) return null;
  key = null;
  return { service: SERVICE_URL, agent_id, session };
}
const server = createServer(({ url = '', method, headers: { authorization } }, response) => {
  const book = url === '/book' && method === 'POST' ? takeBook(authorization) : null;
  const [type, text] = book ? ['application/json', JSON.stringify(book)] : (files[url] ?? ['text/plain', '']);
  const headers = {
    'content-type': `${type}; charset=utf-8`,
    'content-security-policy': policy,
    'cache-control': 'no-store',
  };
  response.writeHead(text === '' ? 404 : 200, headers).end(text);
}).listen(Number(PORT), '127.0.0.1');
await once(server, 'listening');
// Behind the #, which no browser sends.
console.log(`open http://127.0.0.1:${PORT}/#${key}`);
console.log('Enter buys a chat; Ctrl-C ends.');
for await (const _ of createInterface(process.stdin)) {
  const { svc } = await send<{ svc: { task_id: string } }>('/v1/chat/completions', {
    messages: [{ role: 'user', content: 'What is a spend receipt?' }],
  });
  console.log(`bought ${svc.task_id}`);
}
